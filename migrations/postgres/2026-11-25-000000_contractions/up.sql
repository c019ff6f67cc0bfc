-- Migrations that take away what the version before uses, by version as in __diesel_schema_migrations. A version that does not
-- know one of them must not use the database; it may use one with other migrations that it does not know, since those only add.
CREATE TABLE contractions (
    migration TEXT NOT NULL PRIMARY KEY
);
