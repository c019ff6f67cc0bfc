use std::pin::Pin;
use std::task::{Context, Poll};

use actix_web::body::{BodySize, BoxBody, MessageBody};
use bytes::Bytes;
use connections::Serving;

/// Response body that keeps its connection in use until it has been sent.
pub(crate) struct ServedBody {
    body: BoxBody,
    _serving: Option<Serving>,
}

impl ServedBody {
    pub fn new(body: impl MessageBody + 'static, serving: Option<Serving>) -> Self {
        Self { body: body.boxed(), _serving: serving }
    }
}

impl MessageBody for ServedBody {
    type Error = <BoxBody as MessageBody>::Error;

    fn size(&self) -> BodySize {
        self.body.size()
    }

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Bytes, Self::Error>>> {
        Pin::new(&mut self.body).poll_next(context)
    }
}
