//! An actix server whose connections are limited.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::Duration;

use actix_http::error::DispatchError;
use actix_http::{HttpService, Protocol, Request, Response};
use actix_server::{GracefulShutdownSignal, Server};
use actix_service::{
    IntoServiceFactory, Service, ServiceFactory, ServiceFactoryExt as _, apply_fn_factory, fn_service, map_config,
};
use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::AppConfig;
use actix_web::rt::net::TcpStream;
use connections::{Connections, Guarded, Pace, Requests};
use server_tls::{ServerTls, Transport};

use crate::served_body::ServedBody;

/// Replaced connections per worker that may still be closing. Beyond them, new connections wait in the kernel's queue, so
/// that the number of file descriptors stays bounded.
const CLOSING_PER_WORKER: usize = 16;

/// Options of one listener.
#[derive(Clone)]
pub(crate) struct ListenerOptions {
    pub connections: Connections,
    /// Threads.
    pub workers: usize,
    pub keep_alive: Duration,
    pub head_timeout: Duration,
    /// Least speed at which clients read answers.
    pub reading: Pace,
    /// Maximum time to finish running requests on shutdown.
    pub drain: Duration,
    /// `None`: plain HTTP.
    pub tls: Option<Arc<ServerTls>>,
}

/// Creates the server of `app` on a bound socket. `actix_web::HttpServer` does the same without limits.
pub(crate) fn listen<F, I, S, B>(listener: TcpListener, options: &ListenerOptions, app: F) -> io::Result<Server>
where
    F: Fn() -> I + Send + Clone + 'static,
    I: IntoServiceFactory<S, Request>,
    S: ServiceFactory<Request, Config = AppConfig> + 'static,
    S::Error: Into<Error> + 'static,
    S::InitError: fmt::Debug,
    S::Response: Into<Response<B>> + 'static,
    S::Future: 'static,
    <S::Service as Service<Request>>::Future: 'static,
    S::Service: 'static,
    B: MessageBody + 'static,
{
    let address = listener.local_addr()?;
    let most = options.connections.limit().div_ceil(options.workers) + CLOSING_PER_WORKER;
    let server = Server::build()
        .workers(options.workers)
        .max_concurrent_connections(most)
        .shutdown_timeout(options.drain.as_secs())
        .disable_signals();
    let stopping = server.graceful_shutdown_signal();
    let options = options.clone();
    let server = server.listen(format!("http-{address}"), listener, move || {
        let (serving, accepting) = (stopping.clone(), stopping.clone());
        let http = HttpService::build()
            .graceful_shutdown_signal(move || {
                let stopping = serving.clone();
                async move { stopping.notified().await }
            })
            .keep_alive(options.keep_alive)
            .client_request_timeout(options.head_timeout)
            .client_disconnect_timeout(Duration::from_secs(1))
            // A client that closes its side has left, and its work stops.
            .h1_allow_half_closed(false)
            .local_addr(address)
            .on_connect_ext(|stream: &Transport<Guarded<TcpStream>>, data| {
                data.insert(stream.stream().requests());
            });
        let app = app().into_factory().map_err(|error| error.into().error_response());
        let app = apply_fn_factory(map_config(app, |()| AppConfig::default()), in_use);
        let options = options.clone();
        fn_service(move |stream| accept(stream, options.clone(), accepting.clone())).and_then(http.finish(app))
    })?;
    Ok(server.run())
}

type Accepted = (Transport<Guarded<TcpStream>>, Protocol, Option<SocketAddr>);

/// Admits and wraps a connection. A refused one is closed at once.
async fn accept(
    stream: TcpStream,
    options: ListenerOptions,
    stopping: GracefulShutdownSignal,
) -> Result<Accepted, DispatchError> {
    let peer = stream.peer_addr()?;
    let slot = options.connections.admit(peer.ip()).ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
    // Small responses must not wait for the acknowledgement of the previous one.
    stream.set_nodelay(true)?;
    let stream = Guarded::new(stream, slot, options.reading, options.head_timeout);
    let stream = match &options.tls {
        None => Transport::Plain(stream),
        Some(tls) => tokio::select! {
            accepted = handshake(tls, stream, options.head_timeout) => accepted?,
            // A client in its handshake has sent no request yet.
            () = stopping.notified() => return Err(io::Error::from(io::ErrorKind::ConnectionAborted).into()),
        },
    };
    Ok((stream, Protocol::Http1, Some(peer)))
}

/// Performs the TLS handshake within the time of a head. A connection in its handshake waits for a request, so new ones may
/// replace it.
async fn handshake(
    tls: &ServerTls,
    stream: Guarded<TcpStream>,
    time: Duration,
) -> io::Result<Transport<Guarded<TcpStream>>> {
    let mut stream = actix_web::rt::time::timeout(time, tls.accept(stream)).await??;
    stream.stream_mut().end_handshake();
    Ok(stream)
}

/// Keeps a connection in use from the head of a request to the end of its answer.
fn in_use<S, B>(request: Request, app: &S) -> impl Future<Output = Result<Response<ServedBody>, S::Error>> + use<S, B>
where
    S: Service<Request>,
    S::Response: Into<Response<B>>,
    B: MessageBody + 'static,
{
    let serving = request.conn_data::<Requests>().map(Requests::serve);
    let answering = app.call(request);
    async move {
        let response: Response<B> = answering.await?.into();
        Ok(response.map_body(|_, body| ServedBody::new(body, serving)))
    }
}
