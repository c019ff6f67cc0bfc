//! Connection handling: accept loop, limits, graceful shutdown.

use std::error::Error;
use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use connections::{Connections, Guarded, Slot};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use server_tls::{ServerTls, Transport};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::Paces;
use crate::http_service::HttpService;

/// Timeout for an idle connection between two requests.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout for receiving the headers, from their first byte.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);
/// Replaced connections that may still be closing. Beyond them, new connections wait in the kernel's queue, so that the
/// number of file descriptors stays bounded.
const MAX_CLOSING: usize = 32;
/// Time for running requests to finish during shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Serves until `shutdown` completes, then drains the running requests.
pub(crate) async fn serve(
    service: Arc<HttpService>,
    tls: Option<Arc<ServerTls>>,
    listener: TcpListener,
    limits: Connections,
    shutdown: impl Future<Output = ()>,
) {
    let graceful = GracefulShutdown::new();
    // Closed by the stop.
    let accepting = watch::Sender::new(());
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let may_accept = connections.len() < limits.limit() + MAX_CLOSING;
        let (stream, peer) = tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            accepted = listener.accept(), if may_accept => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Usually out of file descriptors. That passes, and retrying at once would only burn CPU.
                    tracing::warn!(%error, "cannot accept object store connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        // A refused connection is closed at once.
        let Some(slot) = limits.admit(peer.ip()) else { continue };
        let (service, tls, watcher) = (Arc::clone(&service), tls.clone(), graceful.watcher());
        let mut accepting = accepting.subscribe();
        connections.spawn(async move {
            let served = async {
                let stream = tokio::select! {
                    opened = open(stream, slot, service.paces, tls.as_deref()) => opened?,
                    // A client in its handshake has sent no request yet.
                    _ = accepting.changed() => return Ok(()),
                };
                Ok(watcher.watch(connection(stream, service)).await?)
            };
            // A connection that ends early (reset, stalled, invalid HTTP) concerns only its client.
            let served: Result<(), Box<dyn Error + Send + Sync>> = served.await;
            if let Err(error) = served {
                tracing::debug!(error, "object store connection ended early");
            }
        });
    }
    drop((listener, accepting));
    if tokio::time::timeout(SHUTDOWN_GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("closed object store connections that exceeded the shutdown timeout");
    }
    connections.shutdown().await;
}

/// Wraps an admitted connection, after its TLS handshake.
async fn open(
    stream: TcpStream,
    slot: Slot,
    paces: Paces,
    tls: Option<&ServerTls>,
) -> io::Result<Transport<Guarded<TcpStream>>> {
    // Small responses must not wait for the acknowledgement of the previous one.
    stream.set_nodelay(true)?;
    let stream = Guarded::new(stream, slot, paces.reading, HEADER_TIMEOUT);
    let Some(tls) = tls else { return Ok(Transport::Plain(stream)) };
    let mut stream = tokio::time::timeout(HEADER_TIMEOUT, tls.accept(stream)).await??;
    stream.stream_mut().end_handshake();
    Ok(stream)
}

fn connection(
    stream: Transport<Guarded<TcpStream>>,
    service: Arc<HttpService>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    let requests = stream.stream().requests();
    let handler = service_fn(move |request| {
        let (service, requests) = (Arc::clone(&service), requests.clone());
        async move { service.handle(request, &requests).await }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(IDLE_TIMEOUT)
        .serve_connection(TokioIo::new(stream), handler)
}
