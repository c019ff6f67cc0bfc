-- Order in which rows are pruned.
CREATE INDEX searches_by_time ON searches (created_at);
CREATE INDEX feedback_by_time ON feedback (created_at);
CREATE INDEX grants_by_time ON grants (granted_at);
CREATE INDEX page_reads_by_time ON page_reads (last_seen_at);
