//! Domains of a source policy: `example.com` stands for itself and all its subdomains.

use url::Host;

/// Why a text is not a domain. The message is fit for the caller who sent it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a domain such as `example.com`")]
pub struct DomainError(pub String);

/// A domain in the form that hosts are compared with: lower-case ASCII, no leading `www.`, no final dot.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Domain(String);

impl Domain {
    /// Reads a bare domain in any case, IDN in Unicode or ASCII. `*.example.com` and `.example.com` are taken as
    /// `example.com`, which means the same. A scheme, port, path or user is an error: with them the caller meant
    /// something narrower than a domain.
    pub fn parse(input: &str) -> Result<Self, DomainError> {
        let error = || DomainError(crate::chars::truncate(input, 200).to_owned());
        let text = input.trim();
        let text = text.strip_prefix("*.").or_else(|| text.strip_prefix('.')).unwrap_or(text);
        let host = Host::parse(text).map_err(|_| error())?.to_string();
        let host = host.strip_suffix('.').unwrap_or(&host);
        if crate::url::is_resolvable(host) { Ok(Self(without_www(host).to_owned())) } else { Err(error()) }
    }

    /// The domain.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `host` is this domain or a subdomain of it. Case, a leading `www.`, a final dot and the form of an IDN
    /// do not matter; a text that is no host is inside nothing.
    pub fn contains(&self, host: &str) -> bool {
        if !host.is_ascii() {
            return Self::parse(host).is_ok_and(|host| self.holds(&host.0));
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        if host.bytes().any(|byte| byte.is_ascii_uppercase()) {
            self.holds(without_www(&host.to_ascii_lowercase()))
        } else {
            self.holds(without_www(host))
        }
    }

    fn holds(&self, host: &str) -> bool {
        // An address ends in a number or a bracket, a domain never does: no suffix of an address is a domain.
        host.strip_suffix(&*self.0).is_some_and(|front| front.is_empty() || front.ends_with('.'))
    }
}

/// `www.com` is a domain of its own: only a name that is still one without it loses `www.`.
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
    fn forms_of_one_domain_are_one() {
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
    fn subdomains_are_inside_and_lookalikes_are_not() {
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
        fn a_domain_holds_itself_and_what_is_below(text in "[a-z0-9.ä-]{1,20}", below in "[a-z]{1,5}") {
            if let Ok(domain) = Domain::parse(&text) {
                prop_assert_eq!(Domain::parse(domain.as_str()), Ok(domain.clone()));
                prop_assert!(domain.contains(domain.as_str()));
                let (inside, beside) = (format!("{below}.{}", domain.as_str()), format!("{below}{}", domain.as_str()));
                prop_assert!(domain.contains(&inside));
                prop_assert!(!domain.contains(&beside));
            }
        }

        #[test]
        fn any_text_is_answered(text in "\\PC{0,40}", host in "\\PC{0,40}") {
            if let Ok(domain) = Domain::parse(&text) {
                let _ = domain.contains(&host);
            }
        }
    }
}
