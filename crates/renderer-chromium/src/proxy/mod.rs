//! Forward proxy that all connections of a browser go through.
//!
//! It connects by the fetcher's policy, and only for pages that are being rendered: each has its own password, and the bytes
//! of all its connections count together.

mod allowance;
mod exchange;
mod metered;

use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use fetcher::Connector;
use hyper::header::PROXY_AUTHORIZATION;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{HeaderMap, Method};
use hyper_util::rt::{TokioIo, TokioTimer};
use model::OrganizationId;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio_util::task::AbortOnDropHandle;

use allowance::Allowance;

/// Name that goes with every password.
pub const USER: &str = "page";
/// Connections of all pages. A browser opens up to 32 to a proxy per page.
const MAX_CONNECTIONS: usize = 512;
/// Time for the head of a request, and between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    _listening: AbortOnDropHandle<()>,
}

struct Shared {
    connector: Connector,
    /// Pages that are being rendered, by password.
    pages: Mutex<HashMap<String, Arc<Allowance>>>,
    connections: Arc<Semaphore>,
}

/// Permission of a page to use the proxy. Dropping it ends all connections of the page.
pub struct Ticket {
    pub password: String,
    allowance: Arc<Allowance>,
    shared: Arc<Shared>,
}

impl Proxy {
    /// Listens on an address.
    pub async fn start(bind: SocketAddr, connector: Connector) -> io::Result<Self> {
        let listener = TcpListener::bind(bind).await?;
        let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let shared = Arc::new(Shared { connector, pages: Mutex::default(), connections });
        let address = listener.local_addr()?;
        let listening = AbortOnDropHandle::new(tokio::spawn(listen(listener, Arc::clone(&shared))));
        Ok(Self { address, shared, _listening: listening })
    }

    /// Permits a page of an organization to exchange at most `max_bytes`.
    pub fn admit(&self, max_bytes: usize, organization_id: OrganizationId) -> Ticket {
        let password = hex::encode(rand::random::<[u8; 16]>());
        let allowance = Arc::new(Allowance::new(max_bytes, organization_id));
        self.shared.lock().insert(password.clone(), Arc::clone(&allowance));
        Ticket { password, allowance, shared: Arc::clone(&self.shared) }
    }
}

impl Ticket {
    /// Waits until the page has exchanged too much.
    pub async fn exceeded(&self) {
        self.allowance.ended().await;
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.shared.lock().remove(&self.password);
        self.allowance.end();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Allowance>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the allowance of the page that a request belongs to.
    fn page(&self, headers: &HeaderMap) -> Option<Arc<Allowance>> {
        let credentials = headers.get(PROXY_AUTHORIZATION)?.to_str().ok()?;
        let (scheme, encoded) = credentials.split_once(' ')?;
        let decoded = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
        let (user, password) = decoded.split_once(':')?;
        let fits = scheme.eq_ignore_ascii_case("basic") && user == USER;
        if fits { self.lock().get(password).cloned() } else { None }
    }
}

async fn listen(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors: some connection ends soon.
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        // At the limit the browser waits.
        let Ok(permit) = Arc::clone(&shared.connections).acquire_owned().await else { return };
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            serve(stream, shared).await;
            drop(permit);
        });
    }
}

async fn serve(stream: TcpStream, shared: Arc<Shared>) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request| {
        let shared = Arc::clone(&shared);
        async move {
            match shared.page(request.headers()) {
                None => Ok(exchange::unauthorized()),
                Some(page) if request.method() == Method::CONNECT => {
                    Ok(exchange::tunnel(request, &shared.connector, page).await)
                }
                Some(page) => exchange::forward(request, &shared.connector, page).await,
            }
        }
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    if let Err(error) = builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await {
        tracing::debug!(%error, "a connection of the browser ended");
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test")]
    use std::net::{IpAddr, Ipv4Addr};

    use async_trait::async_trait;
    use fetcher::{FetcherOptions, Resolver};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use uuid::Uuid;

    use super::*;

    /// Resolver that knows no name and records for whom each is looked up.
    #[derive(Default)]
    struct Recorder(Mutex<Vec<(String, OrganizationId)>>);

    #[async_trait]
    impl Resolver for Recorder {
        async fn resolve(&self, host: &str, organization: OrganizationId) -> io::Result<Vec<IpAddr>> {
            self.0.lock().unwrap().push((host.to_owned(), organization));
            Err(io::ErrorKind::NotFound.into())
        }
    }

    #[tokio::test]
    async fn names_are_looked_up_for_the_organization_of_the_page() {
        let names = Arc::new(Recorder::default());
        let options = FetcherOptions::new("testbot", "1.0", None);
        let connector = Connector::with_resolver(&options, Arc::clone(&names) as _).unwrap();
        let proxy = Proxy::start(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), connector).await.unwrap();
        let mut expected = Vec::new();
        for number in [1, 2] {
            let organization_id = OrganizationId(Uuid::from_u128(number));
            let ticket = proxy.admit(1000, organization_id);
            let credentials = STANDARD.encode(format!("{USER}:{}", ticket.password));
            for (line, host) in [("GET http://plain.test/", "plain.test"), ("CONNECT secure.test:443", "secure.test")] {
                let mut stream = TcpStream::connect(proxy.address).await.unwrap();
                let head = format!("{line} HTTP/1.1\r\nHost: {host}\r\nProxy-Authorization: Basic {credentials}");
                stream.write_all(format!("{head}\r\nConnection: close\r\n\r\n").as_bytes()).await.unwrap();
                let mut answer = Vec::new();
                let _ = stream.read_to_end(&mut answer).await;
                expected.push((host.to_owned(), organization_id));
            }
        }
        assert_eq!(*names.0.lock().unwrap(), expected);
    }
}
