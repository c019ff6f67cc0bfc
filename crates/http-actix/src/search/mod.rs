//! Searches on the wire: the request as the use case takes it, and the answer in its preset and budget.

pub(crate) mod request;
pub(crate) mod response;
