//! Connection handling: accept loop, limits, graceful shutdown.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::http_service::HttpService;
use crate::stall_guard::StallGuard;

/// Maximum number of connections. Each costs a file descriptor and about 20 kB; further ones wait in the kernel's
/// queue.
const MAX_CONNECTIONS: usize = 1024;
/// Timeout for receiving the headers, and for an idle connection between two requests.
const HEADER_TIMEOUT: Duration = Duration::from_secs(60);
/// Timeout for a client that reads nothing of a response.
const WRITE_IDLE: Duration = Duration::from_secs(30);
/// Time for running requests to finish during shutdown.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Serves until `shutdown` completes, then drains the running requests.
pub(crate) async fn serve(service: Arc<HttpService>, listener: TcpListener, shutdown: impl Future<Output = ()>) {
    let graceful = GracefulShutdown::new();
    let permits = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        let accepted = async {
            let permit = Arc::clone(&permits).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, stream) = tokio::select! {
            biased;
            () = &mut shutdown => break,
            Some(_) = connections.join_next() => continue,
            (permit, accepted) = accepted => match accepted {
                Ok((stream, _)) => (permit, stream),
                Err(error) => {
                    // Usually out of file descriptors. That passes, and retrying at once would only burn CPU.
                    tracing::warn!(%error, "cannot accept object store connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let connection = graceful.watch(connection(stream, Arc::clone(&service)));
        connections.spawn(async move {
            let _permit = permit;
            // A connection that ends early (reset, stalled, invalid HTTP) concerns only its client.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "object store connection ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(SHUTDOWN_GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("closed object store connections that exceeded the shutdown timeout");
    }
    connections.shutdown().await;
}

fn connection(
    stream: TcpStream,
    service: Arc<HttpService>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    // Small responses must not wait for the acknowledgement of the previous one.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let handler = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { service.handle(request).await }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(StallGuard::new(stream, WRITE_IDLE)), handler)
}
