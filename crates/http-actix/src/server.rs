use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

use actix_server::ServerHandle;
use actix_web::web;
use app::App;
use connections::{Connections, Limits};
use futures_util::future::select_all;
use rate_limit::RateLimiter;
use research::Research;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::handlers::mcp;
use crate::handlers::unmatched::UNMATCHED;
use crate::listener::{ListenerOptions, listen};
use crate::{Options, State, create_app, create_operations_app};
use crate::{compat, rejections, request_metrics, search_metrics, warning_metrics};

/// Default maximum of threads of the public listener. They parse and serialize only: a few keep any number of cores busy
/// with searches.
const MAX_WORKERS: usize = 8;

/// Keep-alive of idle connections: longer than the minute of most load balancers, so that they close connections first
/// and never send a request into a closing one.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// Timeout of a request's head.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum of connections of the internal listener, for probes and scrapers. Idle ones make room for new ones.
pub const OPERATIONS_CONNECTIONS: usize = 64;
/// Keep-alive of the internal listener.
const OPERATIONS_KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Bound sockets. The caller binds them, so that it can reserve all ports before it starts.
pub struct Listeners {
    /// The public API; `None` on an instance that serves no requests.
    pub public: Option<TcpListener>,
    /// The internal listener: `/healthz`, `/readyz`, `/metrics`.
    pub operations: TcpListener,
}

/// Running listeners.
pub struct Running {
    /// The public one first.
    servers: Vec<(ServerHandle, JoinHandle<io::Result<()>>)>,
    stopping: CancellationToken,
}

/// Starts the listeners. Must be called on a multi-threaded tokio runtime, on which use cases run; connections have their
/// own threads.
///
/// # Errors
/// Fails if a socket cannot be listened on.
pub fn serve(
    app: Arc<App>,
    research: Arc<Research>,
    limiter: Arc<dyn RateLimiter>,
    options: &Options,
    listeners: Listeners,
) -> io::Result<Running> {
    let workers = match options.workers {
        0 => available_parallelism().map_or(1, usize::from).min(MAX_WORKERS),
        configured => configured,
    };
    let served = compat::names().into_iter().chain([mcp::NAME]);
    request_metrics::register(served, UNMATCHED);
    rejections::register();
    warning_metrics::register();
    search_metrics::register();
    let state = web::Data::new(State::new(app, research, limiter, options));
    let public_options = ListenerOptions {
        connections: Connections::new("api", options.connections.clone()),
        workers,
        keep_alive: KEEP_ALIVE,
        head_timeout: HEAD_TIMEOUT,
        reading: options.paces.reading,
        drain: options.drain,
        tls: options.tls.clone(),
    };
    let limits = Limits { connections: OPERATIONS_CONNECTIONS, per_address: 0, trusted: vec![] };
    let operations_options = ListenerOptions {
        connections: Connections::new("operations", limits),
        workers: 1,
        keep_alive: OPERATIONS_KEEP_ALIVE,
        drain: Duration::from_secs(1),
        tls: None,
        ..public_options.clone()
    };
    let stopping = state.stopping.clone();
    let public_state = state.clone();
    let public =
        listeners.public.map(|listener| listen(listener, &public_options, move || create_app(public_state.clone())));
    let operations = listen(listeners.operations, &operations_options, move || create_operations_app(state.clone()))?;
    let servers = public.transpose()?.into_iter().chain([operations]);
    Ok(Running { servers: servers.map(|server| (server.handle(), tokio::spawn(server))).collect(), stopping })
}

impl Running {
    /// Refuses new connections, ends streams, drains running requests (at most for the drain time) and stops. The internal
    /// listener stops last.
    ///
    /// # Errors
    /// Fails if a listener had failed before.
    pub async fn stop(self) -> io::Result<()> {
        self.stopping.cancel();
        for (handle, task) in self.servers {
            handle.stop(true).await;
            task.await.map_err(io::Error::other)??;
        }
        Ok(())
    }

    /// Waits until a listener fails. Safe to drop and call again.
    pub async fn failed(&mut self) -> io::Error {
        let (ended, _, _) = select_all(self.servers.iter_mut().map(|(_, task)| task)).await;
        match ended {
            Ok(Ok(())) => io::Error::other("a listener ended"),
            Ok(Err(error)) => error,
            Err(error) => io::Error::other(error),
        }
    }
}
