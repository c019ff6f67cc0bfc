//! The fetcher against local sites, most of them hostile.

#![expect(clippy::unwrap_used, reason = "tests")]

mod addresses;
mod codings;
mod connections;
mod hostile;
mod pages;
mod politeness;
mod posts;
mod redirects;
mod robots;
mod secure;
mod site;
mod support;
mod visits;
