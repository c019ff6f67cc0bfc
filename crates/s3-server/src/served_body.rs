use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use connections::Serving;
use http_body::{Body as HttpBody, Frame, SizeHint};
use s3s::Body;

/// Response body that keeps its connection in use until it has been sent.
pub(crate) struct ServedBody {
    body: Body,
    _serving: Serving,
}

impl ServedBody {
    pub fn new(body: Body, serving: Serving) -> Self {
        Self { body, _serving: serving }
    }
}

impl HttpBody for ServedBody {
    type Data = Bytes;
    type Error = <Body as HttpBody>::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
