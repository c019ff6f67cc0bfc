//! Handlers, one file per resource: convert the request, run the use case, convert its outcome.

pub(crate) mod citations;
pub(crate) mod console;
pub(crate) mod documents;
pub(crate) mod feedback;
pub(crate) mod files;
pub(crate) mod keys;
pub(crate) mod mcp;
pub(crate) mod me;
pub(crate) mod page;
pub(crate) mod published;
pub(crate) mod research;
pub(crate) mod schemas;
pub(crate) mod searches;
pub(crate) mod skills;
pub(crate) mod unmatched;
pub(crate) mod usage;
pub(crate) mod web;
pub(crate) mod webhooks;
