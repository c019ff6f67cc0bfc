#![doc = include_str!("../README.md")]

mod answer;
mod builder;
mod client;
mod download;
mod error;
mod no_response;
mod pages;
mod rate_limit;
mod research;
mod retry;
mod session;
mod silence;
mod slow_connect;
mod sse;
mod storage;
mod transport;
mod upload;
mod workspace;

pub use api_types as types;
pub use openapi::parameters::{PageQuery, ResearchListQuery, UsageQuery};
pub use openapi::{Input, Operation, operations};

pub use answer::Answer;
pub use builder::ClientBuilder;
pub use client::Client;
pub use error::{ApiError, Error};
pub use no_response::NoResponse;
pub use pages::{DocumentPages, WholeDocument};
pub use research::ResearchEvents;
pub use upload::Uploaded;
pub use workspace::LocalFile;
