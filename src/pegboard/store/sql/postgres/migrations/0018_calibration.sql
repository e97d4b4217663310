-- How the cosines of a model were scaled on this board; NULL for a model that was not calibrated. Who may read and
-- write the table may read and write this column too.
ALTER TABLE models ADD COLUMN calibration json;

-- Searches count the items of each source; this index answers that without reading the items.
CREATE INDEX items_counted ON items (source, namespace) WHERE active AND visibility = 'public';
