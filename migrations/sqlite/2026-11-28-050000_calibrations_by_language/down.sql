ALTER TABLE model_calibrations DROP COLUMN by_language;
