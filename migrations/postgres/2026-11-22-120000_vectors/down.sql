DROP TABLE index_models;
DROP TABLE embedding_jobs;
DROP TABLE capture_vectors;
