//! Addresses of the files of a stored site.

use app::web::WebPage;
use file_types::FileKind;
use url::Url;

use super::page::{Document, RawPage, is_page};
use crate::arguments::InvalidArgument;

/// Maximum size of a file.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Names that servers leave out of an address.
const INDEX_NAMES: [&str; 3] = ["index.html", "index.htm", "index.md"];

/// Address under which the files of a folder or of a zip archive are published.
#[derive(Clone, Debug)]
pub struct Site {
    base: Url,
}

impl Site {
    /// # Errors
    ///
    /// Fails if the address is not an `http` or `https` URL.
    pub fn new(base_url: &str) -> Result<Self, InvalidArgument> {
        let invalid = |fault: String| InvalidArgument(format!("--base-url `{base_url}`{fault}"));
        let mut base = Url::parse(base_url).map_err(|error| invalid(format!(": {error}")))?;
        if !matches!(base.scheme(), "http" | "https") {
            return Err(invalid(" must begin with http:// or https://".to_owned()));
        }
        base.set_query(None);
        base.set_fragment(None);
        Ok(Self { base })
    }

    /// Returns the kind of a file, if its name is that of a page.
    pub fn page_kind(name: &str) -> Option<FileKind> {
        FileKind::from_name(name).filter(is_page)
    }

    /// Returns a file as a page. `path` are the names of its folders, then its own.
    ///
    /// # Errors
    ///
    /// Fails if a name is `.` or `..`, or has a separator.
    pub fn page(&self, path: &[&str], kind: FileKind, bytes: Vec<u8>) -> Result<RawPage, String> {
        let is_name = |name: &&str| !matches!(*name, "" | "." | "..") && !name.contains(['/', '\\']);
        if !path.iter().all(is_name) {
            return Err("the path leaves its folder".to_owned());
        }
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty();
            for (number, name) in path.iter().enumerate() {
                let is_index = number + 1 == path.len() && INDEX_NAMES.contains(name);
                segments.push(if is_index { "" } else { name });
            }
        }
        let page = WebPage { url: url.into(), ..WebPage::default() };
        Ok(RawPage { page, document: Some(Document { kind, bytes, charset: None }) })
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test may end early")]
    use super::*;

    fn url(base: &str, path: &[&str]) -> String {
        Site::new(base).unwrap().page(path, FileKind::Html, Vec::new()).unwrap().page.url
    }

    #[test]
    fn addresses_continue_the_base() {
        for base in ["https://example.com/docs", "https://example.com/docs/", "https://example.com/docs/?a=b#c"] {
            assert_eq!(url(base, &["guide", "setup.html"]), "https://example.com/docs/guide/setup.html");
            assert_eq!(url(base, &["guide", "index.html"]), "https://example.com/docs/guide/");
            assert_eq!(url(base, &["index.md"]), "https://example.com/docs/");
        }
        assert_eq!(url("https://example.com", &["index.html"]), "https://example.com/");
        let encoded = url("https://example.com", &["a b?c#d%", "index.html", "ä.md"]);
        assert_eq!(encoded, "https://example.com/a%20b%3Fc%23d%25/index.html/%C3%A4.md");
    }

    #[test]
    fn a_path_stays_below_the_base() {
        let site = Site::new("https://example.com/docs/").unwrap();
        for path in [&[".."][..], &["a", "..", "b.html"], &["."], &["a/b.html"], &["a\\b.html"], &["", "a.html"]] {
            assert!(site.page(path, FileKind::Html, Vec::new()).is_err(), "{path:?}");
        }
    }

    #[test]
    fn only_the_web_has_addresses() {
        for bad in ["docs", "file:///srv", "ftp://example.com/", "https://", ""] {
            assert!(Site::new(bad).unwrap_err().to_string().contains(&format!("`{bad}`")), "{bad}");
        }
    }
}
