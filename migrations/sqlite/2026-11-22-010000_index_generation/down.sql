DROP TABLE index_generations;
