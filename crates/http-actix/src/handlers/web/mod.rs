//! Crawls and pages of the shared web index.

mod crawls;
mod pages;
