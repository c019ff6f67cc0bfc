//! Canonical URLs and document ids.
//!
//! All spellings of one address map to one document id forever, because callers store ids. The canonical form is the
//! output of the [URL standard](https://url.spec.whatwg.org/) parser (lowercase scheme and host, IDN in ASCII, no
//! default port, dot segments resolved, path at least `/`) with these changes:
//!
//! - no fragment and no tracking parameters; the other parameters keep their order and spelling;
//! - percent-encoding as in [RFC 3986, 6.2.2](https://www.rfc-editor.org/rfc/rfc3986#section-6.2.2): uppercase hex
//!   digits, and no encoded letters, digits, `-`, `.`, `_` or `~`. A `%` that begins no escape becomes `%25`; otherwise
//!   decoding the text after it could form a new escape, and the canonical form would not be stable;
//! - no dot at the end of the host (`example.com.` names the same host);
//! - no `?` without parameters.

use std::borrow::Cow;
use std::ops::Range;

use model::{DocId, OrganizationId};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;
use uuid::Uuid;

/// Maximum length of a URL in bytes, before and after canonicalization.
pub const MAX_LENGTH: usize = 8_192;

/// RFC 3986 unreserved characters, the only ones that stay unencoded in the file name of a workspace URL.
const NAME: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Prefixes of tracking parameters, which say where a visitor came from and not what is shown.
const TRACKING_PREFIXES: [&str; 6] = ["utm_", "mtm_", "matomo_", "pk_", "piwik_", "hsa_"];

/// Lowercase tracking parameters: click ids of advertising networks, mail campaigns, cross-domain analytics.
const TRACKING_NAMES: [&str; 53] = [
    "__hsfp",
    "__hssc",
    "__hstc",
    "__s",
    "__twitter_impression",
    "_branch_match_id",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "_kx",
    "_openstat",
    "at_campaign",
    "at_medium",
    "cmpid",
    "dclid",
    "dm_i",
    "ef_id",
    "epik",
    "fb_action_ids",
    "fb_action_types",
    "fb_ref",
    "fb_source",
    "fbclid",
    "gad_campaignid",
    "gad_source",
    "gbraid",
    "gclid",
    "gclsrc",
    "hsctatracking",
    "igsh",
    "igshid",
    "irclickid",
    "li_fat_id",
    "mc_cid",
    "mc_eid",
    "mkt_tok",
    "ml_subscriber",
    "ml_subscriber_hash",
    "msclkid",
    "oly_anon_id",
    "oly_enc_id",
    "rb_clickid",
    "s_cid",
    "s_kwcid",
    "sccid",
    "srsltid",
    "ttclid",
    "twclid",
    "vero_id",
    "wbraid",
    "yclid",
    "ysclid",
];

/// Invalid document URL. The message may be shown to the caller.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Longer than [`MAX_LENGTH`], as given or once escaped.
    #[error("`{0}` is longer than {MAX_LENGTH} bytes")]
    TooLong(String),
    /// Relative, or another scheme.
    #[error("`{0}` is not an absolute http:// or https:// URL")]
    NotHttp(String),
    /// `user:password@`. The message omits them because it is logged.
    #[error("the URL of host `{0}` carries credentials, which are not accepted")]
    Credentials(String),
    /// Missing host, or one that is neither a valid DNS name nor an address.
    #[error("`{0}` has no valid host")]
    Host(String),
    /// Rejected by the URL standard for another reason.
    #[error("`{value}` is not a valid URL: {reason}")]
    Malformed {
        /// The URL as given, truncated.
        value: String,
        /// Reason from the parser.
        reason: String,
    },
}

/// An `http` or `https` URL in canonical form.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CanonicalUrl {
    text: String,
    host: Range<usize>,
}

impl CanonicalUrl {
    /// Parses and canonicalizes `input`. Surrounding white space is ignored.
    ///
    /// Idempotent on canonical URLs. Besides URLs that the standard rejects, this rejects schemes other than `http` and
    /// `https`, spellings that browsers repair (`http:/x`, `http:x`, `http:\\x`, `http:///x`, control characters
    /// inside), credentials, and hosts with empty or overlong labels.
    pub fn parse(input: &str) -> Result<Self, UrlError> {
        let input = input.trim();
        if input.len() > MAX_LENGTH {
            return Err(UrlError::TooLong(excerpt(input)));
        }
        let Some(authority) = after_scheme(input) else { return Err(UrlError::NotHttp(excerpt(input))) };
        if authority.is_empty() || authority.starts_with(['/', '\\']) {
            return Err(UrlError::Host(excerpt(input)));
        }
        if input.contains(char::is_control) {
            // The standard silently drops tabs and line ends, so two different texts would name one document.
            return Err(UrlError::Malformed { value: excerpt(input), reason: "it contains control characters".into() });
        }
        let url = Url::parse(input).map_err(|error| match error {
            url::ParseError::EmptyHost
            | url::ParseError::IdnaError
            | url::ParseError::InvalidIpv4Address
            | url::ParseError::InvalidIpv6Address
            | url::ParseError::InvalidDomainCharacter => UrlError::Host(excerpt(input)),
            error => UrlError::Malformed { value: excerpt(input), reason: error.to_string() },
        })?;
        let host = url.host_str().unwrap_or_default();
        if !url.username().is_empty() || url.password().is_some() {
            return Err(UrlError::Credentials(excerpt(host)));
        }
        let host = host.strip_suffix('.').unwrap_or(host);
        if !is_resolvable(host) {
            return Err(UrlError::Host(excerpt(input)));
        }

        let mut text = String::with_capacity(input.len() + 1);
        text.push_str(url.scheme());
        text.push_str("://");
        let start = text.len();
        text.push_str(host);
        let host = start..text.len();
        if let Some(port) = url.port() {
            text.push(':');
            text.push_str(&port.to_string());
        }
        text.push_str(&normalize_escapes(url.path()));
        if let Some(query) = url.query() {
            push_query(&mut text, query);
        }
        if text.len() > MAX_LENGTH {
            return Err(UrlError::TooLong(excerpt(input)));
        }
        Ok(Self { text, host })
    }

    /// Returns the canonical URL.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host: lowercase ASCII without port and final dot; an IPv6 address in brackets.
    pub fn host(&self) -> &str {
        &self.text[self.host.clone()]
    }

    /// Returns the path, at least `/`.
    pub fn path(&self) -> &str {
        let rest = &self.text[self.host.end..];
        let path = &rest[rest.find('/').unwrap_or(rest.len())..];
        &path[..path.find('?').unwrap_or(path.len())]
    }

    /// Returns the id of the document at this URL; see [`document_id`].
    pub fn doc_id(&self) -> DocId {
        document_id(&self.text)
    }
}

impl std::fmt::Display for CanonicalUrl {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.text)
    }
}

/// Returns the id of the document at a canonical web or workspace URL: UUID version 5 in the URL namespace (RFC 9562,
/// 5.5). The text must be canonical already.
pub fn document_id(canonical_url: &str) -> DocId {
    DocId(Uuid::new_v5(&Uuid::NAMESPACE_URL, canonical_url.as_bytes()))
}

/// Returns the canonical URL of an organization's file, `workspace://{organization_id}/{name}`. All bytes of the name
/// except unreserved characters are percent-encoded.
pub fn workspace_url(organization_id: OrganizationId, name: &str) -> String {
    format!("workspace://{organization_id}/{}", utf8_percent_encode(name, NAME))
}

/// Parses a workspace URL into organization and file name, or returns `None` for other URLs.
///
/// Accepts URLs that a caller retyped: case of the scheme and the id, and unencoded characters in the name are ignored.
/// [`workspace_url`] of the result is the canonical form.
pub fn parse_workspace_url(input: &str) -> Option<(OrganizationId, String)> {
    const SCHEME: &str = "workspace://";
    let input = input.trim();
    let scheme = input.get(..SCHEME.len())?;
    if !scheme.eq_ignore_ascii_case(SCHEME) {
        return None;
    }
    let (organization, name) = input[SCHEME.len()..].split_once('/')?;
    // Uuid::try_parse also accepts braces, urn: and the form without hyphens; a URL has one form.
    if organization.len() != uuid::fmt::Hyphenated::LENGTH || name.contains(['/', '?', '#']) {
        return None;
    }
    let organization = OrganizationId(Uuid::try_parse(organization).ok()?);
    let name = percent_decode_str(name).decode_utf8().ok()?;
    if name.is_empty() { None } else { Some((organization, name.into_owned())) }
}

/// Returns the text after `http://` or `https://`.
fn after_scheme(input: &str) -> Option<&str> {
    ["http://", "https://"].into_iter().find_map(|scheme| {
        let head = input.get(..scheme.len())?;
        head.eq_ignore_ascii_case(scheme).then(|| &input[scheme.len()..])
    })
}

/// Returns true if a lowercase ASCII host can be looked up: labels of letters, digits, `-` and `_` with the lengths of
/// RFC 1035, 2.3.4, or an address in brackets.
pub(crate) fn is_resolvable(host: &str) -> bool {
    let fits = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    host.starts_with('[') || (host.len() <= 253 && host.split('.').all(fits))
}

fn push_query(text: &mut String, query: &str) {
    let query = normalize_escapes(query);
    let mut separator = '?';
    // A lone "?" has no meaning, but "a&&b" may have one for its server, so empty parameters between others stay.
    if query.is_empty() || query.split('&').all(|parameter| parameter.is_empty() || is_tracking(parameter)) {
        return;
    }
    for parameter in query.split('&').filter(|parameter| !is_tracking(parameter)) {
        text.push(separator);
        text.push_str(parameter);
        separator = '&';
    }
}

fn is_tracking(parameter: &str) -> bool {
    let name = parameter.split_once('=').map_or(parameter, |(name, _)| name).to_ascii_lowercase();
    TRACKING_PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || TRACKING_NAMES.binary_search(&&*name).is_ok()
}

/// Normalizes percent-encoding; see the module documentation.
fn normalize_escapes(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut normal = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        normal.push_str(&rest[..at]);
        let escape = rest.as_bytes()[at + 1..].first_chunk::<2>().and_then(|[high, low]| {
            let digit = |byte: u8| char::from(byte).to_digit(16);
            char::from_u32(digit(*high)? * 16 + digit(*low)?)
        });
        match escape {
            Some(character) => {
                if character.is_ascii_alphanumeric() || "-._~".contains(character) {
                    normal.push(character);
                } else {
                    normal.push_str(&rest[at..at + 3].to_ascii_uppercase());
                }
                rest = &rest[at + 3..];
            }
            None => {
                normal.push_str("%25");
                rest = &rest[at + 1..];
            }
        }
    }
    normal.push_str(rest);
    Cow::Owned(normal)
}

/// Truncates a value for error messages.
fn excerpt(value: &str) -> String {
    const MAX_CHARS: usize = 200;
    let head = crate::chars::truncate(value, MAX_CHARS);
    if head.len() < value.len() { format!("{head}...") } else { head.to_owned() }
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
