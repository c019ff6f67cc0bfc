//! S3 server on the local disk, used by the embedded composition in place of a cloud bucket. See README.md.

mod auth;
mod content;
mod error;
mod http_service;
mod listener;
mod operations;
mod presigned;
mod responses;
mod served_body;
mod shared_body;
mod store;
mod upload_length;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use connections::{Connections, Pace};
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::service::S3ServiceBuilder;
use server_tls::ServerTls;
use tokio::net::TcpListener;

pub use error::S3ServerError;
pub use store::{Copied, Durability, FolderCopy, ObjectInfo, Snapshot};

use http_service::HttpService;
use operations::Operations;
use store::Store;

/// Options of the server.
#[derive(Clone)]
pub struct S3ServerOptions {
    /// Folder of the objects, created if missing. Used by one process at a time.
    pub root: PathBuf,
    /// Name of the bucket.
    pub bucket: String,
    /// Access key, which permits all operations.
    pub access_key_id: String,
    pub secret_access_key: String,
    /// Maximum object size in bytes. Larger uploads are rejected before any data is read.
    pub max_object_bytes: u64,
    pub durability: Durability,
    pub paces: Paces,
    /// Returns true while the disk has no room for uploads, which are then refused with 507. Called for each upload.
    pub is_full: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// Least speeds of clients.
#[derive(Clone, Copy, Debug)]
pub struct Paces {
    /// Of reading a response.
    pub reading: Pace,
    /// Of sending an upload.
    pub sending: Pace,
}

impl Default for Paces {
    fn default() -> Self {
        let patience = Duration::from_secs(30);
        Self {
            reading: Pace { patience, bytes_per_second: 16 << 10 },
            sending: Pace { patience, bytes_per_second: 4 << 10 },
        }
    }
}

/// Opened store, ready to serve. Clones serve the same store on further listeners.
#[derive(Clone)]
pub struct S3Server {
    service: Arc<HttpService>,
    tls: Option<Arc<ServerTls>>,
}

impl S3Server {
    /// Opens the folder, loads the journal and recovers from a crash. Blocks on the disk: some 100 ms for 100,000
    /// objects.
    ///
    /// # Errors
    /// Invalid bucket name or credentials, a folder in use by another process, or an I/O error.
    pub fn open(options: S3ServerOptions) -> Result<Self, S3ServerError> {
        let S3ServerOptions {
            root,
            bucket,
            access_key_id,
            secret_access_key,
            max_object_bytes,
            durability,
            paces,
            is_full,
        } = options;
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
        let mut builder = S3ServiceBuilder::new(Operations { store, bucket, max_object_bytes, is_full });
        builder.set_auth(auth::Key { id: access_key_id, secret: secret_access_key });
        builder.set_access(auth::Access);
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(limits()))));
        Ok(Self { service: Arc::new(HttpService { s3: builder.build(), max_object_bytes, paces }), tls: None })
    }

    /// Returns the same store for a listener with TLS, or without if `None`.
    pub fn over(self, tls: Option<Arc<ServerTls>>) -> Self {
        Self { tls, ..self }
    }

    /// Serves connections until `shutdown` completes. Running requests then have ten seconds to finish.
    pub async fn serve(self, listener: TcpListener, connections: Connections, shutdown: impl Future<Output = ()>) {
        listener::serve(self.service, self.tls, listener, connections, shutdown).await;
    }
}

/// Returns the limits of what the S3 library reads into memory. No operation needs more than a small XML document.
fn limits() -> S3Config {
    let mut config = S3Config::default();
    config.xml_max_body_size = 256 * 1024;
    // Forms are refused before the library reads them: these hold if it ever takes another request for one.
    config.form_max_field_size = 16 * 1024;
    config.form_max_fields_size = 64 * 1024;
    config.post_object_max_file_size = 64 * 1024;
    config
}
