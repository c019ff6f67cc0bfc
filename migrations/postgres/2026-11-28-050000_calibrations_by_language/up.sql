-- Sensitivity to meaning in each language, such as `en=7.7 de=0.6`.
ALTER TABLE model_calibrations ADD COLUMN by_language TEXT NOT NULL DEFAULT '';
