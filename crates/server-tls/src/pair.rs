//! Certificate and key of a server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use x509_cert::Certificate;
use x509_cert::der::Decode;

use crate::CertificateError;

/// PEM files of a key pair.
#[derive(Clone, Debug)]
pub struct PairFiles {
    /// The certificate of the server, followed by those of its issuers.
    pub certificate: PathBuf,
    pub key: PathBuf,
}

/// Contents of both files.
#[derive(Clone, Eq, PartialEq)]
pub(crate) struct Contents {
    certificate: Vec<u8>,
    key: Vec<u8>,
}

/// Time of validity since the Unix epoch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Validity {
    pub begin: Duration,
    pub end: Duration,
}

impl PairFiles {
    pub(crate) fn read(&self) -> Result<Contents, CertificateError> {
        Ok(Contents { certificate: read(&self.certificate)?, key: read(&self.key)? })
    }

    /// Parses both files and checks that they belong together.
    pub(crate) fn parse(
        &self,
        contents: &Contents,
        provider: &CryptoProvider,
    ) -> Result<CertifiedKey, CertificateError> {
        let chain = self.chain(&contents.certificate)?;
        let key = self.key(&contents.key)?;
        let key = provider.key_provider.load_private_key(key);
        let key =
            key.map_err(|error| CertificateError::UnusableKey { path: self.key.clone(), reason: error.to_string() })?;
        let pair = CertifiedKey::new(chain, key);
        match pair.keys_match() {
            Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => Ok(pair),
            Err(rustls::Error::InconsistentKeys(_)) => {
                Err(CertificateError::Mismatch { certificate: self.certificate.clone(), key: self.key.clone() })
            }
            Err(error) => {
                let path = self.certificate.clone();
                Err(CertificateError::UnusableCertificate { path, reason: error.to_string() })
            }
        }
    }

    fn chain(&self, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
        let chain: Result<Vec<_>, pem::Error> = CertificateDer::pem_slice_iter(pem).collect();
        let chain = chain.map_err(|error| malformed(&self.certificate, &error))?;
        if chain.is_empty() {
            return Err(CertificateError::NoCertificate { path: self.certificate.clone() });
        }
        Ok(chain)
    }

    fn key(&self, pem: &[u8]) -> Result<PrivateKeyDer<'static>, CertificateError> {
        PrivateKeyDer::from_pem_slice(pem).map_err(|error| match error {
            pem::Error::NoItemsFound => CertificateError::NoKey { path: self.key.clone() },
            error => malformed(&self.key, &error),
        })
    }
}

/// Returns the validity of the first certificate; `None` if it cannot be parsed.
pub(crate) fn validity(pair: &CertifiedKey) -> Option<Validity> {
    let certificate = Certificate::from_der(pair.cert.first()?).ok()?;
    let x509_cert::time::Validity { not_before, not_after } = certificate.tbs_certificate.validity;
    Some(Validity { begin: not_before.to_unix_duration(), end: not_after.to_unix_duration() })
}

fn read(path: &Path) -> Result<Vec<u8>, CertificateError> {
    std::fs::read(path).map_err(|source| CertificateError::Unreadable { path: path.to_owned(), source })
}

fn malformed(path: &Path, error: &pem::Error) -> CertificateError {
    CertificateError::Malformed { path: path.to_owned(), reason: error.to_string() }
}
