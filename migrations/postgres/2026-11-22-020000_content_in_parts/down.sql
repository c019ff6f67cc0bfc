UPDATE captures SET content = content || coalesce((SELECT string_agg(p.content, '' ORDER BY p.part) FROM capture_parts p WHERE p.capture_id = captures.capture_id), '') WHERE parts IS NOT NULL;
DROP TABLE capture_terms;
DROP TABLE capture_parts;
ALTER TABLE captures DROP COLUMN parts;
