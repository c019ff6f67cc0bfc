UPDATE storage_totals
SET files = (SELECT count(*) FROM files WHERE files.organization_id = storage_totals.organization_id AND withdrawn_at IS NULL);
