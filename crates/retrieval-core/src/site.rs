//! Sites of a source policy: a domain, or the part of it below a path.

use std::fmt;

use crate::domain::{Domain, DomainError};
use crate::url::CanonicalUrl;

/// Invalid site. The message may be shown to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SiteError {
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// The part behind the domain is not a path.
    #[error("`{0}` is not a domain with a path; use a form such as `example.com/docs`, without query and fragment")]
    Path(String),
}

/// A domain with its subdomains, and a path: `example.com/docs` covers `/docs` and everything below it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Site {
    domain: Domain,
    /// Canonical path without a final slash; empty for the whole domain.
    path: String,
}

impl Site {
    /// Parses a domain as [`Domain::parse`] does, with an optional path. The path is normalized like that of a URL: dot
    /// segments are resolved and escapes are unified. Its case counts.
    pub fn parse(input: &str) -> Result<Self, SiteError> {
        let text = input.trim();
        let (domain, path) = text.split_at(text.find('/').unwrap_or(text.len()));
        // The error quotes the whole value.
        let domain = Domain::parse(domain).map_err(|_| DomainError(crate::chars::truncate(input, 200).to_owned()))?;
        if path.is_empty() {
            return Ok(Self { domain, path: String::new() });
        }
        let invalid = || SiteError::Path(crate::chars::truncate(input, 200).to_owned());
        if path.contains(['?', '#', '\\']) {
            return Err(invalid());
        }
        // Every site has the same paths.
        let url = CanonicalUrl::parse(&format!("https://site.example{path}")).map_err(|_| invalid())?;
        Ok(Self { domain, path: url.path().trim_end_matches('/').to_owned() })
    }

    pub fn domain(&self) -> &Domain {
        &self.domain
    }

    /// Returns the path without a final slash; empty for the whole domain.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns true if a page of this host and canonical path belongs to the site.
    pub fn contains(&self, host: &str, path: &str) -> bool {
        let is_below = path.strip_prefix(&*self.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_below && self.domain.contains(host)
    }
}

impl From<Domain> for Site {
    fn from(domain: Domain) -> Self {
        Self { domain, path: String::new() }
    }
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.domain.as_str(), self.path)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equivalent_forms_normalize_to_one_site() {
        for (input, expected) in [
            ("Example.COM", "example.com"),
            ("example.com/", "example.com"),
            (" www.example.com/docs/ ", "example.com/docs"),
            ("*.example.com/docs", "example.com/docs"),
            ("example.com/a/../docs/./x", "example.com/docs/x"),
            ("example.com/a/%2e%2e/docs", "example.com/docs"),
            ("example.com/..", "example.com"),
            ("example.com/%64ocs/%c3%a9", "example.com/docs/%C3%A9"),
            ("example.com/é", "example.com/%C3%A9"),
            ("example.com/Docs", "example.com/Docs"),
            ("bücher.example/neu", "xn--bcher-kva.example/neu"),
            ("[::1]/a", "[::1]/a"),
        ] {
            assert_eq!(Site::parse(input).unwrap().to_string(), expected, "{input}");
        }
        for bad in ["", "/docs", "https://example.com/docs", "e.com:80/docs", "e.com/a?b=1", "e.com/a#b", "u@e.com/a"] {
            let error = Site::parse(bad).unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{bad}`")), "{error}");
        }
    }

    #[test]
    fn paths_match_at_borders_of_segments() {
        let site = Site::parse("example.com/docs").unwrap();
        for (host, path) in
            [("example.com", "/docs"), ("www.example.com", "/docs/"), ("a.example.com", "/docs/guide/start.html")]
        {
            assert!(site.contains(host, path), "{host}{path}");
        }
        for (host, path) in [
            ("example.com", "/"),
            ("example.com", "/docs2"),
            ("example.com", "/docs.html"),
            ("example.com", "/Docs"),
            ("example.com", "/a/docs"),
            ("notexample.com", "/docs"),
        ] {
            assert!(!site.contains(host, path), "{host}{path}");
        }
        assert!(Site::parse("example.com").unwrap().contains("docs.example.com", "/any"));
    }

    proptest! {
        #[test]
        fn site_of_a_page_contains_it(path in "(/[a-z.%0-9é]{0,6}){0,5}", below in "[a-z]{1,4}") {
            if let Ok(site) = Site::parse(&format!("example.com{path}")) {
                prop_assert_eq!(Site::parse(&site.to_string()), Ok(site.clone()));
                let page = CanonicalUrl::parse(&format!("https://www.example.com{path}")).unwrap();
                prop_assert!(site.contains(page.host(), page.path()), "{} {}", site, page);
                let (inside, beside) = (format!("{}/{below}", site.path()), format!("{}{below}", site.path()));
                prop_assert!(site.contains("example.com", &inside));
                prop_assert!(site.path().is_empty() || !site.contains("example.com", &beside));
            }
        }

        #[test]
        fn any_text_is_accepted_without_panic(text in "\\PC{0,40}") {
            let _ = Site::parse(&text);
        }
    }
}
