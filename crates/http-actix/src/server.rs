use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{HttpServer, web};
use app::App;
use rate_limit::RateLimiter;
use tokio::task::JoinHandle;

use crate::{Options, State, create_app, create_operations_app};

/// Default maximum of threads of the public listener. They parse and serialize only: a few keep any number of cores busy
/// with searches.
const MAX_WORKERS: usize = 8;

/// Keep-alive of idle connections: longer than the minute of most load balancers, so that they close connections first
/// and never send a request into a closing one.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// Timeout of a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Bound sockets. The caller binds them, so that it can reserve all ports before it starts.
pub struct Listeners {
    /// The public API.
    pub public: TcpListener,
    /// The internal listener: `/healthz`, `/readyz`, `/metrics`.
    pub operations: TcpListener,
}

/// Running listeners.
pub struct Running {
    public: (ServerHandle, JoinHandle<io::Result<()>>),
    operations: (ServerHandle, JoinHandle<io::Result<()>>),
}

/// Starts both listeners. Must be called on a multi-threaded tokio runtime, on which use cases run; connections have their
/// own threads.
///
/// # Errors
/// Fails if a socket cannot be listened on.
pub fn serve(
    app: Arc<App>,
    limiter: Arc<dyn RateLimiter>,
    options: &Options,
    listeners: Listeners,
) -> io::Result<Running> {
    let workers = match options.workers {
        0 => available_parallelism().map_or(1, usize::from).min(MAX_WORKERS),
        configured => configured,
    };
    let drain = options.drain.as_secs();
    let state = web::Data::new(State::new(app, limiter, options));

    let public_state = state.clone();
    let public = HttpServer::new(move || create_app(public_state.clone()))
        .workers(workers)
        .tcp_nodelay(true)
        .keep_alive(KEEP_ALIVE)
        .client_request_timeout(HEAD_TIMEOUT)
        .shutdown_timeout(drain)
        .disable_signals()
        .listen(listeners.public)?
        .run();
    let operations = HttpServer::new(move || create_operations_app(state.clone()))
        .workers(1)
        .tcp_nodelay(true)
        .shutdown_timeout(1)
        .disable_signals()
        .listen(listeners.operations)?
        .run();
    Ok(Running {
        public: (public.handle(), tokio::spawn(public)),
        operations: (operations.handle(), tokio::spawn(operations)),
    })
}

impl Running {
    /// Refuses new connections, drains running requests (at most for the drain time) and stops. The internal listener
    /// stops last.
    ///
    /// # Errors
    /// Fails if a listener had failed before.
    pub async fn stop(self) -> io::Result<()> {
        for (handle, task) in [self.public, self.operations] {
            handle.stop(true).await;
            task.await.map_err(io::Error::other)??;
        }
        Ok(())
    }

    /// Waits until a listener fails. Safe to drop and call again.
    pub async fn failed(&mut self) -> io::Error {
        let ended = tokio::select! {
            ended = &mut self.public.1 => ended,
            ended = &mut self.operations.1 => ended,
        };
        match ended {
            Ok(Ok(())) => io::Error::other("a listener ended"),
            Ok(Err(error)) => error,
            Err(error) => io::Error::other(error),
        }
    }
}
