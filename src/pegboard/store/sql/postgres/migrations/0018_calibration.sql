-- How the cosines of a model were scaled on this board; NULL for a model that was not calibrated. Who may read and
-- write the table may read and write this column too.
ALTER TABLE models ADD COLUMN calibration json;
