DROP TABLE term_vectors;
