-- How the cosines of a model were scaled on this board; NULL for a model that was not calibrated.
ALTER TABLE models ADD COLUMN calibration TEXT;
