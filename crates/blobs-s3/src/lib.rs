//! The blob seam on S3 and what speaks its protocol, through `rusoto_s3`. See README.md.

mod credentials;
mod dispatcher;
mod download;
mod endpoint;
mod failure;
mod options;
mod presign;
mod retry;
mod store;

pub use options::{S3Options, S3Timeouts};
pub use store::S3Store;
