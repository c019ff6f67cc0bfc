-- Quality of embedding models, measured with built-in texts of known meaning.
CREATE TABLE model_calibrations (
    model TEXT NOT NULL,
    -- Version of the texts.
    version INTEGER NOT NULL,
    meaning DOUBLE NOT NULL,
    repetition DOUBLE NOT NULL,
    PRIMARY KEY (model, version)
);
