-- Quality of embedding models, measured with built-in texts of known meaning.
CREATE TABLE model_calibrations (
    model TEXT NOT NULL,
    -- Version of the texts.
    version INTEGER NOT NULL,
    meaning DOUBLE PRECISION NOT NULL,
    repetition DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (model, version)
);
