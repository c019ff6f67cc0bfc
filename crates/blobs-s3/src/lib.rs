//! Blob interface on S3 and compatible stores, through `rusoto_s3`. See README.md.

mod checksum;
mod credentials;
mod dispatcher;
mod download;
mod endpoint;
mod errors;
mod listing;
mod machine;
mod metadata;
mod options;
mod presign;
mod retry;
mod store;

pub use options::{S3Options, S3Timeouts};
pub use store::S3Store;
