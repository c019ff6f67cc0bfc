DROP TABLE contractions;
