//! Pages of the shared web index: lists, removals and refreshes.

use crawler::Address;
pub use docstore::WebPageEntry;
use docstore::{AuditEntry, Details, Docstore};
use model::{AuditAction, DocId, Timestamp};

use crate::Error;
use crate::audit::web_index_entry;
use crate::error::Result;

/// Pages that are read at a time.
const READ_AT_A_TIME: i64 = 2_000;
/// Pages that are removed in one transaction.
const REMOVED_AT_A_TIME: i64 = 500;
/// Maximum length of a prefix in bytes.
const MAX_PREFIX: usize = 2_048;

/// Condition on pages. All given values must hold; without any, all pages are selected.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Selection {
    /// Host, with its port unless that is the scheme's.
    pub host: Option<String>,
    /// Beginning of canonical URLs.
    pub prefix: Option<String>,
}

impl Selection {
    fn is_all(&self) -> bool {
        self.host.is_none() && self.prefix.is_none()
    }

    /// Returns the beginnings of the selected URLs, `None` for all of them.
    fn beginnings(&self) -> Result<Vec<Option<String>>> {
        let prefix = self.prefix.as_deref().map(checked_prefix).transpose()?;
        let Some(host) = &self.host else { return Ok(vec![prefix.map(str::to_owned)]) };
        let of_host = beginnings_of(host)?;
        let prefix = prefix.unwrap_or_default();
        // The longer one of both, if it begins with the shorter one.
        let both = of_host.into_iter().filter_map(|of_host| {
            if prefix.starts_with(&of_host) {
                return Some(prefix.to_owned());
            }
            of_host.starts_with(prefix).then_some(of_host)
        });
        Ok(both.map(Some).collect())
    }
}

fn checked_prefix(prefix: &str) -> Result<&str> {
    let begins_url = prefix.starts_with("http://") || prefix.starts_with("https://");
    if !begins_url || prefix.contains(char::is_control) {
        return Err(Error::invalid("prefix", format!("prefix: `{prefix}` begins no URL: add http:// or https://")));
    }
    if prefix.len() > MAX_PREFIX {
        return Err(Error::invalid("prefix", format!("prefix is longer than {MAX_PREFIX} bytes")));
    }
    Ok(prefix)
}

/// Returns the beginnings of the URLs of a host.
fn beginnings_of(host: &str) -> Result<[String; 2]> {
    let is_host = !host.contains(['/', '?', '#', '@', '\\']);
    let address = Address::parse(&format!("http://{host}/")).ok().filter(|_| is_host);
    let invalid = || Error::invalid("host", format!("host: `{host}` is not a host such as example.com"));
    let host = address.ok_or_else(invalid)?.host;
    Ok(["http", "https"].map(|scheme| format!("{scheme}://{host}/")))
}

/// Returns selected pages in the order of their ids, at most `limit`.
///
/// # Errors
/// `Invalid` for a malformed host or prefix.
pub async fn list(
    store: &Docstore,
    selection: &Selection,
    after: Option<DocId>,
    limit: i64,
) -> Result<Vec<WebPageEntry>> {
    let mut pages = Vec::new();
    for beginning in selection.beginnings()? {
        pages.extend(store.list_web_pages(beginning, after, limit).await?);
    }
    pages.sort_by_key(|page| page.doc_id);
    pages.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(pages)
}

/// Calls `visit` with every selected page, until it returns false.
///
/// # Errors
/// As [`list`].
pub async fn for_each(
    store: &Docstore,
    selection: &Selection,
    mut visit: impl FnMut(WebPageEntry) -> bool,
) -> Result<()> {
    let mut after = None;
    loop {
        let pages = list(store, selection, after, READ_AT_A_TIME).await?;
        let Some(last) = pages.last() else { return Ok(()) };
        after = Some(last.doc_id);
        for page in pages {
            if !visit(page) {
                return Ok(());
            }
        }
    }
}

/// Pages that were removed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Removed {
    pub count: usize,
    /// False if pages are left; a further call goes on.
    pub is_complete: bool,
}

/// Removes one page. Crawls do not add it again.
///
/// # Errors
/// `Invalid` for a malformed URL.
pub async fn remove_one(store: &Docstore, actor: &str, now: Timestamp, url: &str) -> Result<Removed> {
    let address = exact("url", url)?;
    let details = Details::default().with("url", address.url.as_str());
    let entry = web_index_entry(actor, now, AuditAction::WebPagesRemoved, details);
    let entry = AuditEntry { subject_id: Some(address.doc_id().0), ..entry };
    let count = store.remove_web_pages(vec![address.doc_id()], now, Some(entry)).await?;
    Ok(Removed { count, is_complete: true })
}

/// Removes selected pages, in at most `steps` transactions. Crawls do not add them again.
///
/// # Errors
/// `Invalid` for a malformed host or prefix, and without any.
pub async fn remove(
    store: &Docstore,
    actor: &str,
    now: Timestamp,
    selection: &Selection,
    steps: usize,
) -> Result<Removed> {
    if selection.is_all() {
        return Err(Error::invalid("host", "a host or a prefix is required"));
    }
    let details = Details::default().with("host", selection.host.clone()).with("prefix", selection.prefix.clone());
    let mut entry = Some(web_index_entry(actor, now, AuditAction::WebPagesRemoved, details));
    let mut count = 0;
    let mut after = None;
    for _ in 0..steps {
        // From the beginning, each step would read all other pages before the selected ones again.
        let pages = list(store, selection, after, REMOVED_AT_A_TIME).await?;
        let ids: Vec<DocId> = pages.iter().map(|page| page.doc_id).collect();
        let Some(last) = ids.last().copied() else { break };
        after = Some(last);
        count += store.remove_web_pages(ids, now, entry.take()).await?;
    }
    let left = list(store, selection, None, 1).await?;
    Ok(Removed { count, is_complete: left.is_empty() })
}

/// Outcome of a refresh.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Refreshed {
    /// Canonical URL.
    pub url: String,
    /// False if the shared web index does not contain the page.
    pub is_queued: bool,
}

/// Queues visits of pages, with at most `max_urls` URLs in the frontier of their crawl. All URLs are checked first.
///
/// # Errors
/// `Invalid` for a malformed URL.
pub async fn refresh(store: &Docstore, now: Timestamp, urls: &[String], max_urls: u64) -> Result<Vec<Refreshed>> {
    let numbered = urls.iter().enumerate();
    let addresses: Vec<Address> =
        numbered.map(|(index, url)| exact(&format!("urls[{index}]"), url)).collect::<Result<_>>()?;
    let mut refreshed = Vec::with_capacity(addresses.len());
    for address in addresses {
        let is_queued = store.find_web_page(address.doc_id()).await?;
        if is_queued {
            crawler::refresh(store, &address, max_urls, now).await.map_err(Error::internal)?;
        }
        refreshed.push(Refreshed { url: address.url, is_queued });
    }
    Ok(refreshed)
}

/// Canonicalizes the URL in a field.
fn exact(field: &str, url: &str) -> Result<Address> {
    Address::exact(url).map_err(|error| Error::invalid(field, format!("{field}: {error}")))
}

/// Records an import that begins, in the audit log.
///
/// # Errors
/// The database failed.
pub async fn record_import(store: &Docstore, actor: &str, now: Timestamp, source: &str) -> Result<()> {
    let details = Details::default().with("source", source);
    Ok(store.record_audit_entry(web_index_entry(actor, now, AuditAction::WebPagesImported, details)).await?)
}
