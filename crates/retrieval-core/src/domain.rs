//! Domains of a source policy: `example.com` matches itself and all its subdomains.

use url::Host;

/// Invalid domain. The message may be shown to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a domain; use a form such as `example.com`")]
pub struct DomainError(pub String);

/// Normalized domain: lowercase ASCII, without a leading `www.` or a final dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(String);

impl Domain {
    /// Parses a bare domain in any case, IDN in Unicode or ASCII. `*.example.com` and `.example.com` are equivalent to
    /// `example.com`. A scheme, port, path or user is an error, because the caller meant something narrower than a
    /// domain.
    pub fn parse(input: &str) -> Result<Self, DomainError> {
        let error = || DomainError(crate::chars::truncate(input, 200).to_owned());
        let text = input.trim();
        let text = text.strip_prefix("*.").or_else(|| text.strip_prefix('.')).unwrap_or(text);
        let host = Host::parse(text).map_err(|_| error())?.to_string();
        let host = host.strip_suffix('.').unwrap_or(&host);
        if crate::url::is_resolvable(host) { Ok(Self(without_www(host).to_owned())) } else { Err(error()) }
    }

    /// Returns the domain as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns true if `host` is this domain or a subdomain. Ignores case, a leading `www.`, a final dot and the form
    /// of an IDN. An invalid host never matches.
    pub fn contains(&self, host: &str) -> bool {
        if !host.is_ascii() {
            return Self::parse(host).is_ok_and(|host| self.matches(&host.0));
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
            self.matches(without_www(&host.to_ascii_lowercase()))
        } else {
            self.matches(without_www(host))
        }
    }

    fn matches(&self, host: &str) -> bool {
        // No suffix of an IP address is a domain: addresses end in a number or bracket, domains never do.
        host.strip_suffix(&*self.0).is_some_and(|front| front.is_empty() || front.ends_with('.'))
    }
}

/// Strips `www.` if the rest is still a domain: `www.com` is a domain of its own.
fn without_www(mut host: &str) -> &str {
    while let Some(rest) = host.strip_prefix("www.").filter(|rest| rest.contains('.')) {
        host = rest;
    }
    host
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use proptest::prelude::*;

    #[test]
    fn equivalent_forms_normalize_to_one_domain() {
        for (input, expected) in [
            ("Example.COM", "example.com"),
            (" www.example.com. ", "example.com"),
            ("*.example.com", "example.com"),
            (".example.com", "example.com"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("XN--BCHER-KVA.example", "xn--bcher-kva.example"),
            ("www.com", "www.com"),
            ("gov", "gov"),
            ("127.1", "127.0.0.1"),
            ("[::1]", "[::1]"),
        ] {
            assert_eq!(Domain::parse(input).unwrap().as_str(), expected, "{input}");
        }
        let bad =
            ["", " ", ".", "..", "*", "a..b", "https://example.com", "example.com/a", "a b", "u@e.com", "e.com:80"];
        for bad in bad {
            let error = Domain::parse(bad).unwrap_err();
            assert!(error.to_string().starts_with(&format!("`{bad}`")), "{error}");
        }
    }

    #[test]
    fn subdomains_match_and_lookalikes_do_not() {
        let domain = Domain::parse("www.example.com").unwrap();
        for inside in ["example.com", "docs.example.com", "WWW.Example.com", "a.b.example.com.", "www.docs.example.com"]
        {
            assert!(domain.contains(inside), "{inside}");
        }
        for outside in ["notexample.com", "example.com.evil.net", "com", "", ".", "example.co", "example"] {
            assert!(!domain.contains(outside), "{outside}");
        }
        let idn = Domain::parse("bücher.example").unwrap();
        assert!(idn.contains("www.xn--bcher-kva.example") && idn.contains("shop.Bücher.example"));
        assert!(!Domain::parse("www.com").unwrap().contains("example.com"));
        assert!(!Domain::parse("0.0.0.1").unwrap().contains("10.0.0.1"));
    }

    proptest! {
        #[test]
        fn a_domain_matches_itself_and_its_subdomains(text in "[a-z0-9.ä-]{1,20}", below in "[a-z]{1,5}") {
            if let Ok(domain) = Domain::parse(&text) {
                prop_assert_eq!(Domain::parse(domain.as_str()), Ok(domain.clone()));
                prop_assert!(domain.contains(domain.as_str()));
                let (inside, beside) = (format!("{below}.{}", domain.as_str()), format!("{below}{}", domain.as_str()));
                prop_assert!(domain.contains(&inside));
                prop_assert!(!domain.contains(&beside));
            }
        }

        #[test]
        fn any_text_is_accepted_without_panic(text in "\\PC{0,40}", host in "\\PC{0,40}") {
            if let Ok(domain) = Domain::parse(&text) {
                let _ = domain.contains(&host);
            }
        }
    }
}
