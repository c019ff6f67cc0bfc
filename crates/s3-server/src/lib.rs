//! An S3 store on the local disk: what the embedded composition serves in place of a cloud bucket. See README.md.

mod auth;
mod content;
mod error;
mod http_service;
mod listener;
mod operations;
mod presigned;
mod stalled;
mod store;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use s3s::service::S3ServiceBuilder;
use tokio::net::TcpListener;

pub use error::S3ServerError;
pub use store::Durability;

use http_service::HttpService;
use operations::Operations;
use store::Store;

/// What to serve, from where, to whom.
#[derive(Clone)]
pub struct S3ServerOptions {
    /// The folder that holds the objects; made where it is missing. One process at a time.
    pub root: PathBuf,
    /// The one bucket.
    pub bucket: String,
    /// The one key, which may do everything.
    pub access_key_id: String,
    pub secret_access_key: String,
    /// Larger objects are refused before their first byte is read.
    pub max_object_bytes: u64,
    pub durability: Durability,
}

/// The store, open and ready to serve.
pub struct S3Server {
    service: Arc<HttpService>,
}

impl S3Server {
    /// Opens the folder, reads which objects there are and puts right what a crash left. Blocks on the disk: some 100 ms
    /// for 100,000 objects.
    ///
    /// # Errors
    /// A bucket name or credentials that cannot be, a folder that another process serves or that cannot be used.
    pub fn open(options: S3ServerOptions) -> Result<Self, S3ServerError> {
        let S3ServerOptions { root, bucket, access_key_id, secret_access_key, max_object_bytes, durability } = options;
        if !s3s::path::check_bucket_name(&bucket) {
            return Err(S3ServerError::BucketName(bucket));
        }
        if access_key_id.is_empty() || secret_access_key.is_empty() {
            return Err(S3ServerError::Credentials);
        }
        let store = Store::open(root.clone(), durability).map_err(|source| match source.kind() {
            io::ErrorKind::WouldBlock => S3ServerError::InUse(root),
            io::ErrorKind::InvalidData => S3ServerError::Format { path: root.join("journal") },
            _ => S3ServerError::Io { path: root, source },
        })?;
        let mut builder = S3ServiceBuilder::new(Operations { store, bucket, max_object_bytes });
        builder.set_auth(auth::Key { id: access_key_id, secret: secret_access_key });
        builder.set_access(auth::Access);
        Ok(Self { service: Arc::new(HttpService { s3: builder.build(), max_object_bytes }) })
    }

    /// Serves connections until `shutdown` is done; requests that are going on then get ten seconds to end.
    pub async fn serve(self, listener: TcpListener, shutdown: impl Future<Output = ()>) {
        listener::serve(self.service, listener, shutdown).await;
    }
}
