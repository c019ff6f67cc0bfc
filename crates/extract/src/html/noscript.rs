//! Content for browsers without scripts.

use std::borrow::Cow;

use super::measure::weight;
use super::{end_tag, plain_text};

/// Minimum weight of text for a `noscript` to be content, rather than an image or a request to enable scripts.
const MIN_CONTENT: f64 = 250.0;

/// Removes `noscript` elements and `noscript` tags inside them that are never closed. Elements with much text are
/// unwrapped instead, because scripts would have written that text.
pub(super) fn resolve(source: &str) -> Cow<'_, str> {
    let bytes = source.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while let Some(found) = source[at..].find('<') {
        let start = at + found;
        at = start + 1;
        let tag = &source[start..];
        if let Some(comment) = tag.strip_prefix("<!--") {
            at = comment.find("-->").map_or(source.len(), |end| start + 4 + end);
        } else if ["script", "style"].iter().any(|name| opens(tag, name)) {
            let name = if opens(tag, "script") { "script" } else { "style" };
            at += end_tag::find(&bytes[at..], name.as_bytes());
        } else if opens(tag, "noscript") {
            let inner = tag.find('>').map_or(source.len(), |end| start + end + 1);
            let behind = inner + end_tag::find(&bytes[inner..], b"noscript");
            let end = behind + source[behind..].find('>').map_or(0, |close| close + 1);
            let closed = behind >= inner + "</noscript".len() && end > behind;
            if !closed {
                break;
            }
            out.push_str(&source[copied..start]);
            let text = &source[inner..behind - "</noscript".len()];
            // Browsers save the tags inside as text.
            let (words, _) = plain_text::text(&plain_text::text(text).0);
            if weight(&words) >= MIN_CONTENT {
                out.push_str(text);
            }
            (copied, at) = (end, end);
        }
    }
    if copied == 0 {
        return Cow::Borrowed(source);
    }
    out.push_str(&source[copied..]);
    Cow::Owned(out)
}

/// Returns true if the source begins with a start tag of this name.
fn opens(source: &str, name: &str) -> bool {
    let rest = source.as_bytes().get(1..).unwrap_or_default();
    rest.get(..name.len()).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()))
        && rest.get(name.len()).is_some_and(|next| !next.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_noscript_is_removed_and_long_noscript_is_unwrapped() {
        let long = "A text that scripts would have written. ".repeat(10);
        for (source, expected) in [
            ("a<noscript><img src=x></noscript>b", "ab".to_owned()),
            ("a<NOSCRIPT class=x><div>Turn scripts on!</NoScript >b", "ab".to_owned()),
            (&format!("a<noscript><p>{long}</p></noscript>b"), format!("a<p>{long}</p>b")),
            ("<script>'<noscript>'</script>x</noscript>", "<script>'<noscript>'</script>x</noscript>".to_owned()),
            ("<!-- <noscript> -->a<noscript>b</noscript>", "<!-- <noscript> -->a".to_owned()),
            ("a<noscript>never closed", "a<noscript>never closed".to_owned()),
            (&format!("a<noscript>&lt;img alt='{long}'></noscript>b"), "ab".to_owned()),
            ("a<noscripted>b</noscript>", "a<noscripted>b</noscript>".to_owned()),
            ("<", "<".to_owned()),
        ] {
            assert_eq!(resolve(source), expected, "{source}");
        }
    }
}
