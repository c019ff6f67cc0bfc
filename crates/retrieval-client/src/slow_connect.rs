//! Reports of connections that take long.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tower_layer::Layer;
use tower_service::Service;

/// A report of the first connection that takes longer than a limit.
#[derive(Clone)]
pub(crate) struct SlowConnect {
    limit: Duration,
    report: Arc<dyn Fn() + Send + Sync>,
    reported: Arc<AtomicBool>,
}

impl SlowConnect {
    pub fn new(limit: Duration, report: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self { limit, report, reported: Arc::default() }
    }
}

impl<S> Layer<S> for SlowConnect {
    type Service = Watched<S>;

    fn layer(&self, inner: S) -> Watched<S> {
        Watched { inner, watch: self.clone() }
    }
}

/// A connector whose slow connections are reported.
#[derive(Clone)]
pub(crate) struct Watched<S> {
    inner: S,
    watch: SlowConnect,
}

impl<R, S: Service<R, Future: Send + 'static>> Service<R> for Watched<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let mut connecting = Box::pin(self.inner.call(request));
        let SlowConnect { limit, report, reported } = self.watch.clone();
        Box::pin(async move {
            if let Ok(connected) = tokio::time::timeout(limit, &mut connecting).await {
                return connected;
            }
            if !reported.swap(true, Ordering::Relaxed) {
                report();
            }
            connecting.await
        })
    }
}
