use std::fmt;
use std::io;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use rustls::ServerConfig;
use rustls::crypto::{CryptoProvider, ring};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_rustls::TlsAcceptor;

use crate::pair::{Contents, PairFiles, validity};
use crate::{CertificateError, Transport};

/// Time before the end of a certificate from which on it should be renewed.
const RENEW_BEFORE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Key pair of a server, and connections over it.
pub struct ServerTls {
    files: PairFiles,
    provider: Arc<CryptoProvider>,
    current: Arc<Current>,
    config: Arc<ServerConfig>,
    /// Contents that were looked at last, valid or not.
    seen: Mutex<Seen>,
}

struct Seen {
    taken: Contents,
    /// Contents that differ from those, at the last look.
    changed: Option<Contents>,
    /// True once a look has reported that `changed` is broken, or that the files cannot be read.
    reported: bool,
}

/// Outcome of a look at the files.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reload {
    Unchanged,
    /// New connections get the new pair.
    Replaced,
}

impl ServerTls {
    /// Reads and checks a pair.
    ///
    /// # Errors
    /// The files cannot be read, are malformed or do not belong together.
    pub fn load(files: PairFiles) -> Result<Self, CertificateError> {
        let provider = Arc::new(ring::default_provider());
        let contents = files.read()?;
        let pair = files.parse(&contents, &provider)?;
        let current = Arc::new(Current(RwLock::new(Arc::new(pair))));
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(CertificateError::Protocol)?
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let seen = Mutex::new(Seen { taken: contents, changed: None, reported: false });
        Ok(Self { files, provider, current, config: Arc::new(config), seen })
    }

    /// Looks at the files and takes over a changed pair. Programs that renew certificates replace one file after the other, so a
    /// change counts only when a second look finds it again.
    ///
    /// # Errors
    /// The changed pair is broken, and the one before stays in use. Reported once per change.
    pub fn poll(&self) -> Result<Reload, CertificateError> {
        let read = self.files.read();
        let mut seen = self.lock();
        let contents = match read {
            Ok(contents) => contents,
            Err(error) => {
                // Files that return count as a change, whatever was found before.
                seen.changed = None;
                return if mem::replace(&mut seen.reported, true) { Ok(Reload::Unchanged) } else { Err(error) };
            }
        };
        if contents == seen.taken {
            (seen.changed, seen.reported) = (None, false);
            return Ok(Reload::Unchanged);
        }
        if seen.changed.as_ref() != Some(&contents) {
            (seen.changed, seen.reported) = (Some(contents), false);
            return Ok(Reload::Unchanged);
        }
        if seen.reported {
            return Ok(Reload::Unchanged);
        }
        seen.reported = true;
        self.take(&mut seen, contents)
    }

    /// Takes over the pair in the files at once.
    ///
    /// # Errors
    /// The pair is broken, and the one before stays in use.
    pub fn reload(&self) -> Result<Reload, CertificateError> {
        let contents = self.files.read()?;
        let mut seen = self.lock();
        if contents == seen.taken {
            return Ok(Reload::Unchanged);
        }
        self.take(&mut seen, contents)
    }

    fn take(&self, seen: &mut Seen, contents: Contents) -> Result<Reload, CertificateError> {
        let pair = self.files.parse(&contents, &self.provider)?;
        *self.current.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(pair);
        *seen = Seen { taken: contents, changed: None, reported: false };
        Ok(Reload::Replaced)
    }

    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the end of the certificate's validity since the Unix epoch; `None` if it is unreadable.
    pub fn expires_at(&self) -> Option<Duration> {
        validity(&self.current.get()).map(|validity| validity.end)
    }

    /// Returns true if the certificate is within its time of validity. `now` counts from the Unix epoch.
    pub fn is_valid_at(&self, now: Duration) -> bool {
        validity(&self.current.get()).is_some_and(|validity| (validity.begin..validity.end).contains(&now))
    }

    /// Returns the problem of a pair with which clients do not, or soon will not, connect. `now` counts from the Unix epoch.
    pub fn problem(&self, now: Duration) -> Option<String> {
        let file = self.files.certificate.display();
        let Some(validity) = validity(&self.current.get()) else {
            return Some(format!("the certificate in `{file}` has no readable time of validity"));
        };
        let days = |time: Duration| time.as_secs() / (24 * 60 * 60);
        if now >= validity.end {
            Some(format!("the certificate in `{file}` expired {} days ago: renew it", days(now - validity.end)))
        } else if now < validity.begin {
            Some(format!(
                "the certificate in `{file}` is not valid yet: compare the clocks of this machine and its issuer"
            ))
        } else if validity.end - now < RENEW_BEFORE {
            Some(format!("the certificate in `{file}` expires in {} days: renew it", days(validity.end - now)))
        } else {
            None
        }
    }

    /// Performs the handshake of a connection. The caller limits its time.
    ///
    /// # Errors
    /// The client left, or does not agree on a protocol.
    pub async fn accept<S>(&self, stream: S) -> io::Result<Transport<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = TlsAcceptor::from(Arc::clone(&self.config)).accept(stream).await?;
        Ok(Transport::Tls(Box::new(stream)))
    }
}

/// The pair in use.
struct Current(RwLock<Arc<CertifiedKey>>);

impl Current {
    fn get(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl fmt::Debug for Current {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Current")
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.get())
    }
}
