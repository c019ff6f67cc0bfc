#![allow(clippy::unwrap_used)]

mod exa;
mod firecrawl;
mod fixtures;
mod openwebui;
mod searxng;
mod services;
mod tavily;
