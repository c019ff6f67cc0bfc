use std::io;
use std::path::{Path, PathBuf};

/// Reason for not using a key pair. Keys are part of no message.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    #[error("`{path}` cannot be read")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(
        "`{path}` has no certificate: it must be a PEM file with the certificate of the server and then those of its issuers"
    )]
    NoCertificate { path: PathBuf },
    #[error(
        "`{path}` has no private key: it must be a PEM file with one key that is not encrypted (PKCS#8, PKCS#1 or SEC1)"
    )]
    NoKey { path: PathBuf },
    #[error("`{path}` is not a valid PEM file: {reason}")]
    Malformed { path: PathBuf, reason: String },
    #[error("the key in `{path}` cannot be used: {reason}")]
    UnusableKey { path: PathBuf, reason: String },
    #[error("the certificate in `{path}` cannot be used: {reason}")]
    UnusableCertificate { path: PathBuf, reason: String },
    #[error("the key in `{key}` does not belong to the first certificate in `{certificate}`")]
    Mismatch { certificate: PathBuf, key: PathBuf },
    #[error("TLS cannot be configured")]
    Protocol(#[source] rustls::Error),
}

impl CertificateError {
    /// Returns the file at fault.
    pub fn path(&self) -> Option<&Path> {
        match self {
            CertificateError::Unreadable { path, .. }
            | CertificateError::NoCertificate { path }
            | CertificateError::NoKey { path }
            | CertificateError::Malformed { path, .. }
            | CertificateError::UnusableKey { path, .. }
            | CertificateError::UnusableCertificate { path, .. }
            | CertificateError::Mismatch { key: path, .. } => Some(path),
            CertificateError::Protocol(_) => None,
        }
    }
}
