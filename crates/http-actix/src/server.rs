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

/// Threads of the public listener at most, unless more are asked for. They parse and serialize only: a few keep any
/// number of cores busy with searches.
const MOST_WORKERS: usize = 8;

/// An idle connection is kept for longer than the minute that most load balancers keep theirs, so that it is they who
/// close it, and no request is sent into a closing connection.
const KEEP_ALIVE: Duration = Duration::from_secs(75);

/// Time for the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);

/// Bound sockets. Binding is the caller's: it knows the addresses, and can hold several ports before it starts.
pub struct Listeners {
    /// The public API.
    pub public: TcpListener,
    /// `/healthz`, `/readyz`: internal.
    pub operations: TcpListener,
}

/// Both listeners, serving.
pub struct Running {
    public: (ServerHandle, JoinHandle<io::Result<()>>),
    operations: (ServerHandle, JoinHandle<io::Result<()>>),
}

/// Starts to serve. Must be called on a multi-threaded tokio runtime, on which the use cases then run; connections are
/// served by threads of their own.
///
/// # Errors
/// A socket that cannot be listened on.
pub fn serve(
    app: Arc<App>,
    limiter: Arc<dyn RateLimiter>,
    options: &Options,
    listeners: Listeners,
) -> io::Result<Running> {
    let workers = match options.workers {
        0 => available_parallelism().map_or(1, usize::from).min(MOST_WORKERS),
        asked => asked,
    };
    let drain = options.drain.as_secs();
    let state = web::Data::new(State::new(app, limiter, options));

    let for_public = state.clone();
    let public = HttpServer::new(move || create_app(for_public.clone()))
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
    /// Takes no new connections, waits for the requests under way (at most the drain time) and ends. The operations
    /// listener answers to the last.
    ///
    /// # Errors
    /// A listener that had failed before.
    pub async fn stop(self) -> io::Result<()> {
        for (handle, task) in [self.public, self.operations] {
            handle.stop(true).await;
            task.await.map_err(io::Error::other)??;
        }
        Ok(())
    }

    /// Waits until a listener ends on its own, which is always a failure. Safe to drop and call again.
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
