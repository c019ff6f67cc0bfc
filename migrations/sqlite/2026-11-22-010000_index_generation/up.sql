-- Generations of the search indexes. An index remembers the one that it was last changed in. If the database does not know
-- it, one of the two was restored to another time.
CREATE TABLE index_generations (
    index_name TEXT NOT NULL PRIMARY KEY,
    -- State after the last complete batch.
    completed BLOB,
    -- State after the batch that has started.
    started BLOB
);
