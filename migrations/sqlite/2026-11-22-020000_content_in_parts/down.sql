UPDATE captures SET content = content || coalesce((SELECT group_concat(p.content, '') FROM (SELECT content FROM capture_parts WHERE capture_id = captures.capture_id ORDER BY part) p), '') WHERE parts IS NOT NULL;
DROP TABLE capture_terms;
DROP TABLE capture_parts;
ALTER TABLE captures DROP COLUMN parts;
