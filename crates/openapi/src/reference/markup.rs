//! Conversion of text to HTML.

/// Escapes text for HTML, between tags and in quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Renders the CommonMark subset of descriptions: `code` in backticks.
pub(super) fn inline(text: &str) -> String {
    let mut html = String::new();
    let mut parts = text.split('`').peekable();
    let mut code = false;
    while let Some(part) = parts.next() {
        // An unclosed backtick is text.
        if code && parts.peek().is_none() {
            html.push('`');
            html.push_str(&escape(part));
        } else if code {
            html.push_str(&format!("<code>{}</code>", escape(part)));
        } else {
            html.push_str(&escape(part));
        }
        code = !code;
    }
    html
}

/// Renders paragraphs of [`inline`] text, separated by empty lines.
pub(super) fn prose(text: &str) -> String {
    text.split("\n\n").map(|paragraph| format!("<p>{}</p>\n", inline(paragraph.trim()))).collect()
}

#[cfg(test)]
mod tests {
    use super::{inline, prose};

    #[test]
    fn text_is_never_markup() {
        assert_eq!(inline("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
        assert_eq!(inline("send `<x>` now"), "send <code>&lt;x&gt;</code> now");
        assert_eq!(inline("one ` alone"), "one ` alone");
        assert_eq!(inline("`code`"), "<code>code</code>");
        assert_eq!(prose("a\n\nb"), "<p>a</p>\n<p>b</p>\n");
    }
}
