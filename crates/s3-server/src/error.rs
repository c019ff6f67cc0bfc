use std::io;
use std::path::PathBuf;

/// Why the embedded store cannot start.
#[derive(Debug, thiserror::Error)]
pub enum S3ServerError {
    #[error("`{0}` is not a valid bucket name: 3 to 63 of a-z, 0-9, `.` and `-`")]
    BucketName(String),
    #[error("the embedded store needs an access key id and a secret access key")]
    Credentials,
    #[error("`{0}` is in use by another process")]
    InUse(PathBuf),
    #[error("`{path}` is not a journal that this version can read")]
    Format { path: PathBuf },
    #[error("cannot open the object store in `{path}`")]
    Io {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}
