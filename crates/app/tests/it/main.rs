//! The use cases over a real docstore on SQLite, with test doubles behind the seams to the outside world.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod accounts;
mod billing;
mod blending;
mod deadlines;
mod evidence;
mod feedback;
mod file_details;
mod files;
mod fresh_reads;
mod keys;
mod long_documents;
mod low_disk;
mod me;
mod own_keys;
mod quotas;
mod readiness;
mod reads;
mod recorded_searches;
mod removal;
mod returned_parts;
mod search;
mod second_stage;
mod semantic;
mod shares;
mod source_policy;
mod sqlite;
mod stored_terms;
mod tenants;
mod tokens;
mod unwritable;
mod usage;
mod web_index;
mod web_pages;
mod web_providers;
mod webhooks;
