-- Tells whether the shared web index has pages, among any number of pages that are not listed. All keys are equal, so that an import
-- appends to it.
CREATE INDEX listed_web_pages ON documents (organization_id) WHERE organization_id IS NULL AND listed AND removed_at IS NULL;
