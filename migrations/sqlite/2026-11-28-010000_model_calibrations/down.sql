DROP TABLE model_calibrations;
