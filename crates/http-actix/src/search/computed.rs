//! Shaping and conversion of answers: small ones here, large ones when it is the organization's turn, so that they do not hold up
//! the threads of connections.

use api_types::SearchResponse;

use super::response::{Page, ShapedPage};
use crate::call::Context;
use crate::failure::Failure;

/// Bytes of an answer above which it is handled on another thread.
const LARGE: usize = 64 << 10;

/// Plans an answer; see [`Page::shape`].
pub(crate) async fn shape(context: &Context, page: Page) -> Result<ShapedPage, Failure> {
    let bytes = page.bytes();
    if bytes <= LARGE {
        return page.shape();
    }
    context.compute(bytes, move || page.shape()).await?
}

/// Serializes an answer; see [`ShapedPage::body`].
pub(crate) async fn body(context: &Context, shaped: ShapedPage) -> Result<Vec<u8>, Failure> {
    let bytes = shaped.page.bytes();
    if bytes <= LARGE {
        return shaped.body();
    }
    context.compute(bytes, move || shaped.body()).await?
}

/// Converts an answer; see [`ShapedPage::response`].
pub(crate) async fn response(context: &Context, shaped: ShapedPage) -> Result<SearchResponse, Failure> {
    let bytes = shaped.page.bytes();
    if bytes <= LARGE {
        return shaped.response();
    }
    context.compute(bytes, move || shaped.response()).await?
}
