-- Rollups of minutes, for the partial hours at the ends of a window. They are pruned by their start. Those of requests from
-- before this migration have counts without durations.
CREATE INDEX usage_rollups_by_time ON usage_rollups (period, start);
INSERT INTO usage_rollups
SELECT organization_id, 60000, created_at / 60000 * 60000, identity, route, count(*),
    sum(CASE WHEN status BETWEEN 400 AND 499 THEN 1 ELSE 0 END), sum(CASE WHEN status >= 500 THEN 1 ELSE 0 END),
    sum(duration_us), 0, x''
FROM usage_events
GROUP BY organization_id, created_at / 60000 * 60000, identity, route;
INSERT INTO usage_rollups
SELECT organization_id, 60000, created_at / 60000 * 60000, identity, 'POST /v1/search', 0, 0, 0, 0, -sum(cents), x''
FROM balance_entries
WHERE identity IS NOT NULL AND created_at >= (SELECT min(created_at) FROM usage_events)
GROUP BY organization_id, created_at / 60000 * 60000, identity
ON CONFLICT (organization_id, period, start, identity, route) DO UPDATE SET spend_cents = excluded.spend_cents;
