use std::io;
use std::path::PathBuf;

/// Failure to open the object store.
#[derive(Debug, thiserror::Error)]
pub enum S3ServerError {
    #[error("invalid bucket name `{0}`: use 3 to 63 characters of a-z, 0-9, `.` and `-`")]
    BucketName(String),
    #[error("the access key id and the secret access key must not be empty")]
    Credentials,
    #[error("`{0}` is in use by another process")]
    InUse(PathBuf),
    #[error("`{path}` is not a journal of a supported version")]
    Format { path: PathBuf },
    #[error("cannot open the object store in `{path}`")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}
