//! Connections: accepting, limits, the graceful end.

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
use crate::stalled::StallGuard;

/// A connection costs a file descriptor and some 20 kB; further ones wait in the kernel's queue.
const MAX_CONNECTIONS: usize = 1024;
/// How long a client may take to send a head, and how long a connection may idle between two requests.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);
/// How long a client may take nothing of an answer.
const WRITE_IDLE: Duration = Duration::from_secs(30);
/// What requests that are going on get to end, when the server stops.
const SHUTDOWN_GRACE: Duration = Duration::from_secs(10);

/// Serves until `shutdown` is done, then lets what is going on end.
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
                    // Out of file descriptors, mostly: it passes, and trying at once would only burn the processor.
                    tracing::warn!(%error, "cannot accept a connection of the object store");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let connection = graceful.watch(connection(stream, Arc::clone(&service)));
        connections.spawn(async move {
            let _permit = permit;
            // Whatever ends a connection early (it was cut, it stalled, it spoke no HTTP) concerns only its client.
            if let Err(error) = connection.await {
                tracing::debug!(%error, "connection of the object store ended early");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(SHUTDOWN_GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("cut connections of the object store that did not end in time");
    }
    connections.shutdown().await;
}

fn connection(
    stream: TcpStream,
    service: Arc<HttpService>,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> + Send {
    // Small answers must not wait for the client's acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "cannot set TCP_NODELAY");
    }
    let answer = service_fn(move |request| {
        let service = Arc::clone(&service);
        async move { service.answer(request).await }
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(StallGuard::new(stream, WRITE_IDLE)), answer)
}
