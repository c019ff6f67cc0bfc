//! Parser and matcher for robots.txt rules (RFC 9309, 2.2).

use std::cmp::Reverse;
use std::fmt::Write;
use std::time::Duration;

/// Maximum number of patterns with `*` per host: far more than sites have, few enough to match a long path quickly. Each of them may
/// read the whole path. The others are read once at most, which the length of the file bounds.
const MAX_WILDCARDS: usize = 5_000;

/// Maximum number and length of the sitemaps that a file may name.
const MAX_SITEMAPS: usize = 100;
const MAX_SITEMAP_URL: usize = 2_048;

/// Bytes that files spell plain and URLs encode, at least in some places: those that no URL has plain by RFC 3986, and `'`, which the
/// URL standard encodes in queries. `%` is none of them: a pattern may end within an escape.
const NEVER_PLAIN: &[u8] = b"\"'<>\\^`{|}";

/// Rules of one host that apply to our token.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rules {
    /// Sorted by specificity, most specific first; of equally long patterns the allowing one comes first.
    rules: Vec<Rule>,
    /// `Crawl-delay`: not part of the RFC, but widely used.
    pub crawl_delay: Option<Duration>,
    /// `Sitemap` lines, which belong to no group.
    pub sitemaps: Vec<String>,
    /// True if the file was longer than what was parsed, or had patterns beyond the limit.
    pub is_truncated: bool,
    /// Number of patterns with `*`.
    wildcards: usize,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allow: bool,
    /// Normalized by [`normalize`]; `*` matches any text.
    pattern: String,
    /// True if the pattern ends with `$` and must match to the end of the path.
    is_anchored: bool,
}

/// Agents that a group applies to.
#[derive(Clone, Copy, Default)]
struct Audience {
    own_token: bool,
    wildcard: bool,
}

impl Rules {
    /// Parses `text` for the crawler `token`. Invalid lines are skipped, so every input is accepted.
    pub fn parse(text: &[u8], token: &str) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let (mut specific, mut general) = (Rules::default(), Rules::default());
        let mut has_specific = false;
        let mut sitemaps = Vec::new();
        let mut audience = Audience::default();
        // Consecutive `User-agent` lines start one group.
        let mut in_agent_lines = false;
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let (field, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            if field.eq_ignore_ascii_case(b"user-agent") {
                if !in_agent_lines {
                    audience = Audience::default();
                    in_agent_lines = true;
                }
                audience.wildcard |= value == b"*";
                audience.own_token |= product_token(value).eq_ignore_ascii_case(token.as_bytes());
                has_specific |= audience.own_token;
                continue;
            }
            if field.eq_ignore_ascii_case(b"sitemap") {
                let url = std::str::from_utf8(value).ok().filter(|url| url.len() <= MAX_SITEMAP_URL);
                sitemaps.extend(url.filter(|_| sitemaps.len() < MAX_SITEMAPS).map(str::to_owned));
                continue;
            }
            let Some(line) = Line::read(field, value) else { continue };
            in_agent_lines = false;
            if audience.own_token {
                specific.add(&line);
            }
            if audience.wildcard {
                general.add(&line);
            }
        }
        let mut rules = if has_specific { specific } else { general };
        rules.sitemaps = sitemaps;
        rules.rules.sort_by_key(|rule| (Reverse(rule.pattern.len() + usize::from(rule.is_anchored)), !rule.allow));
        rules
    }

    /// Returns true if `path` may be fetched: path and query, percent-encoded as in a URL.
    pub fn allows(&self, path: &str) -> bool {
        let path = normalize(path.as_bytes(), b"*$");
        path == "/robots.txt" || self.rules.iter().find(|rule| rule.matches(&path)).is_none_or(|rule| rule.allow)
    }

    /// Returns the approximate memory use in bytes.
    pub fn weight(&self) -> usize {
        let rules: usize = self.rules.iter().map(|rule| size_of::<Rule>() + rule.pattern.len()).sum();
        rules + self.sitemaps.iter().map(|url| size_of::<String>() + url.len()).sum::<usize>()
    }

    fn add(&mut self, line: &Line) {
        match line {
            Line::Rule { allow, pattern: value } => {
                let (pattern, is_anchored) = match value.strip_suffix(b"$") {
                    Some(pattern) => (pattern, true),
                    None => (*value, false),
                };
                let mut pattern = normalize(pattern, b"$");
                // Some files omit the leading slash, which every path has.
                if !pattern.starts_with(['/', '*']) {
                    pattern.insert(0, '/');
                }
                self.add_rule(Rule { allow: *allow, pattern, is_anchored });
            }
            Line::CrawlDelay(delay) => self.crawl_delay = Some(*delay),
            Line::EmptyRule => {}
        }
    }

    /// Adds a rule. Beyond the limit one with `*` allows nothing, or disallows all that begins with the text before it.
    fn add_rule(&mut self, mut rule: Rule) {
        if let Some(wildcard) = rule.pattern.find('*') {
            if self.wildcards < MAX_WILDCARDS {
                self.wildcards += 1;
            } else {
                self.is_truncated = true;
                if rule.allow {
                    return;
                }
                rule.pattern.truncate(wildcard);
                rule.is_anchored = false;
            }
        }
        self.rules.push(rule);
    }
}

/// Line within a group.
enum Line<'a> {
    /// Matches no page, but ends the `User-agent` lines of the group.
    EmptyRule,
    Rule {
        allow: bool,
        pattern: &'a [u8],
    },
    CrawlDelay(Duration),
}

impl<'a> Line<'a> {
    fn read(field: &[u8], value: &'a [u8]) -> Option<Self> {
        if field.eq_ignore_ascii_case(b"allow") || field.eq_ignore_ascii_case(b"disallow") {
            let allow = field.len() == b"allow".len();
            return Some(if value.is_empty() { Line::EmptyRule } else { Line::Rule { allow, pattern: value } });
        }
        if field.eq_ignore_ascii_case(b"crawl-delay") {
            let seconds: f64 = std::str::from_utf8(value).ok()?.parse().ok()?;
            return Duration::try_from_secs_f64(seconds).ok().map(Line::CrawlDelay);
        }
        None
    }
}

impl Rule {
    /// Matches the pieces between `*` from left to right, each as early as possible, which leaves the longest rest.
    fn matches(&self, path: &str) -> bool {
        let mut pieces = self.pattern.split('*');
        let Some(mut rest) = pieces.next().and_then(|first| path.strip_prefix(first)) else { return false };
        let mut pieces = pieces.peekable();
        if pieces.peek().is_none() {
            return !self.is_anchored || rest.is_empty();
        }
        while let Some(piece) = pieces.next() {
            if self.is_anchored && pieces.peek().is_none() {
                return rest.ends_with(piece);
            }
            let Some(at) = rest.find(piece) else { return false };
            rest = &rest[at + piece.len()..];
        }
        true
    }
}

/// Returns the compared part of a `User-agent` value: `Name` for `Name/1.0 (more)`.
fn product_token(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| !(byte.is_ascii_alphabetic() || b"-_".contains(byte)));
    &value[..end.unwrap_or(value.len())]
}

/// Returns the canonical spelling of the same octets (RFC 9309, 2.2.2): unreserved characters are decoded, reserved ones stay as they
/// are spelled, and all others are percent-encoded, with uppercase digits. Bytes in `also_encoded` have a meaning in patterns and are
/// encoded too.
fn normalize(text: &[u8], also_encoded: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let (byte, was_encoded) = match rest {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                rest = &rest[3..];
                (hex_value(*high) << 4 | hex_value(*low), true)
            }
            _ => {
                rest = after;
                (*first, false)
            }
        };
        let is_unreserved = byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let may_be_plain = byte.is_ascii_graphic() && !NEVER_PLAIN.contains(&byte) && !also_encoded.contains(&byte);
        if is_unreserved || (!was_encoded && may_be_plain) {
            out.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

fn hex_value(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        _ => digit.wrapping_sub(b'A').wrapping_add(10),
    }
}

#[cfg(test)]
mod tests;
