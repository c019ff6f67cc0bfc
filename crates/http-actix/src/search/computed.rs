//! Shaping and conversion of answers: small ones here, large ones when it is the organization's turn, so that they do not hold up
//! the threads of connections.

use api_types::SearchResponse;

use super::response::{Page, ShapedPage};
use crate::call::Context;
use crate::failure::Failure;

/// Plans an answer; see [`Page::shape`].
pub(crate) async fn shape(context: &Context, page: Page) -> Result<ShapedPage, Failure> {
    context.compute_if_large(page.bytes(), move || page.shape()).await?
}

/// Serializes an answer; see [`ShapedPage::body`].
pub(crate) async fn body(context: &Context, shaped: ShapedPage) -> Result<Vec<u8>, Failure> {
    context.compute_if_large(shaped.page.bytes(), move || shaped.body()).await?
}

/// Converts an answer; see [`ShapedPage::response`].
pub(crate) async fn response(context: &Context, shaped: ShapedPage) -> Result<SearchResponse, Failure> {
    context.compute_if_large(shaped.page.bytes(), move || shaped.response()).await?
}
