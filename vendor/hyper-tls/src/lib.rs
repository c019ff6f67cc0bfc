//! A connector without TLS under the name that `rusoto_core` asks for. See README.md.
use std::task::{Context, Poll};

use hyper::Uri;
use hyper::client::HttpConnector;
use hyper::service::Service;

/// Connects over plain TCP; `https` addresses are refused by the inner connector.
#[derive(Clone, Debug)]
pub struct HttpsConnector<T>(T);

impl HttpsConnector<HttpConnector> {
    pub fn new() -> Self {
        Self(HttpConnector::new())
    }
}

impl Default for HttpsConnector<HttpConnector> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Service<Uri>> Service<Uri> for HttpsConnector<T> {
    type Response = T::Response;
    type Error = T::Error;
    type Future = T::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        self.0.call(target)
    }
}
