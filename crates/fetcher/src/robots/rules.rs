//! robots.txt: what it says to us, and whether a page is forbidden (RFC 9309, 2.2).

use std::cmp::Reverse;
use std::fmt::Write;
use std::time::Duration;

/// Rules beyond these are not read: far more than sites have, few enough to be compared with a long path in no time.
const MAX_RULES: usize = 5_000;

/// The rules of one host that are meant for us.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rules {
    /// The most specific one first; of equally long ones the one that allows.
    rules: Vec<Rule>,
    /// No part of the RFC, but widely used: seconds between requests.
    pub crawl_delay: Option<Duration>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allow: bool,
    /// In the form of [`normalized`]; a `*` stands for any text.
    pattern: String,
    /// Whether the path must end where the pattern does (`$`).
    is_anchored: bool,
}

/// Who a group of rules is for.
#[derive(Clone, Copy, Default)]
struct Audience {
    us: bool,
    all: bool,
}

impl Rules {
    /// What `text` says to the crawler `token`. Lines that are none are passed over, so anything can be read.
    pub fn parse(text: &[u8], token: &str) -> Self {
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let (mut ours, mut general) = (Rules::default(), Rules::default());
        let mut is_known = false;
        let mut audience = Audience::default();
        // Several lines of `User-agent` in a row begin one group.
        let mut is_beginning = false;
        for line in text.split(|byte| matches!(byte, b'\n' | b'\r')) {
            let line = line.split(|&byte| byte == b'#').next().unwrap_or_default();
            let Some(colon) = line.iter().position(|&byte| byte == b':') else { continue };
            let (field, value) = (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii());
            if field.eq_ignore_ascii_case(b"user-agent") {
                if !is_beginning {
                    audience = Audience::default();
                    is_beginning = true;
                }
                audience.all |= value == b"*";
                audience.us |= product_token(value).eq_ignore_ascii_case(token.as_bytes());
                is_known |= audience.us;
                continue;
            }
            let Some(line) = Line::read(field, value) else { continue };
            is_beginning = false;
            if audience.us {
                ours.add(&line);
            }
            if audience.all {
                general.add(&line);
            }
        }
        let mut rules = if is_known { ours } else { general };
        rules.rules.sort_by_key(|rule| (Reverse(rule.pattern.len() + usize::from(rule.is_anchored)), !rule.allow));
        rules
    }

    /// Whether the page at `path` (with its query, percent-encoded as in a URL) may be fetched.
    pub fn allows(&self, path: &str) -> bool {
        let path = normalized(path.as_bytes(), b"*$");
        path == "/robots.txt" || self.rules.iter().find(|rule| rule.matches(&path)).is_none_or(|rule| rule.allow)
    }

    /// About how much memory the rules take.
    pub fn weight(&self) -> usize {
        self.rules.iter().map(|rule| size_of::<Rule>() + rule.pattern.len()).sum()
    }

    fn add(&mut self, line: &Line) {
        match line {
            Line::Rule { allow, pattern: value } if self.rules.len() < MAX_RULES => {
                let (pattern, is_anchored) = match value.strip_suffix(b"$") {
                    Some(pattern) => (pattern, true),
                    None => (*value, false),
                };
                let mut pattern = normalized(pattern, b"$");
                // Written without its slash it is meant with it: paths have one.
                if !pattern.starts_with(['/', '*']) {
                    pattern.insert(0, '/');
                }
                self.rules.push(Rule { allow: *allow, pattern, is_anchored });
            }
            Line::CrawlDelay(delay) => self.crawl_delay = Some(*delay),
            Line::EmptyRule | Line::Rule { .. } => {}
        }
    }
}

/// A line that belongs to a group.
enum Line<'a> {
    /// Says nothing about any page, but there it is: the names before it are complete.
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
    /// Each piece between two `*` is found as early as possible; then the rest has the most room.
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

/// The part of a `User-agent` line that is compared: `Name/1.0 (more)` stands for `Name`.
fn product_token(value: &[u8]) -> &[u8] {
    let end = value.iter().position(|byte| !(byte.is_ascii_alphabetic() || b"-_".contains(byte)));
    &value[..end.unwrap_or(value.len())]
}

/// One spelling for all that mean the same octets (RFC 9309, 2.2.2): what need not be percent-encoded is not, all else
/// is, with uppercase digits. Bytes of `also_encoded` are encoded too, for they mean something in a pattern.
fn normalized(text: &[u8], also_encoded: &[u8]) -> String {
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
        let is_plain = is_unreserved || (!was_encoded && byte.is_ascii_graphic() && !also_encoded.contains(&byte));
        if is_plain {
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
