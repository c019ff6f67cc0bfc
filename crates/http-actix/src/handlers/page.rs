use app::files::PageRequest;
use openapi::parameters::PageQuery;

use crate::failure::Failure;

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1_000;

/// Reads place and size of a page.
pub(crate) fn request(query: PageQuery) -> Result<PageRequest, Failure> {
    let PageQuery { cursor, limit } = query;
    let limit =
        match limit {
            None => DEFAULT_LIMIT,
            Some(text) => text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit)).ok_or_else(|| {
                Failure::invalid("limit", format!("limit must be a number between 1 and {MAX_LIMIT}"))
            })?,
        };
    Ok(PageRequest { cursor, limit })
}
