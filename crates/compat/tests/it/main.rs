#![allow(clippy::unwrap_used)]

mod exa;
mod firecrawl;
mod fixtures;
mod nothings;
mod openwebui;
mod searxng;
mod services;
mod tavily;
