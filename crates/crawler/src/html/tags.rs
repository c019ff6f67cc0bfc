//! Scanner of start tags. Takes time in proportion to the page, whatever the markup.

/// Elements whose content is text.
const RAW_TEXT: [&str; 5] = ["script", "style", "textarea", "title", "xmp"];

/// Longer names of elements and attributes are cut.
const MAX_NAME: usize = 32;

/// Start tag with its attributes.
pub struct Tag<'a> {
    /// Lowercase.
    pub name: String,
    attributes: Vec<(String, &'a str)>,
    /// Content of an element that holds text only.
    pub text: &'a str,
    /// True inside of `noscript`, which is for browsers without scripts.
    pub in_noscript: bool,
}

impl Tag<'_> {
    /// Returns an attribute with its character references resolved.
    pub fn get(&self, name: &str) -> Option<String> {
        let (_, value) = self.attributes.iter().find(|(found, _)| found == name)?;
        Some(htmlize::unescape_attribute(*value).trim().to_owned())
    }
}

/// Calls `visit` with each start tag, until it returns false. `kept` names the attributes that it needs.
pub fn scan<'a>(source: &'a str, kept: &[&str], mut visit: impl FnMut(&Tag<'a>) -> bool) {
    let bytes = source.as_bytes();
    let mut noscript = Noscript::default();
    let mut at = 0;
    while let Some(found) = find(source, at, "<") {
        at = found + 1;
        match bytes.get(at) {
            Some(b'!') if source[at..].starts_with("!--") => {
                let Some(end) = end_of_comment(source, at + 3) else { return };
                at = end;
            }
            Some(first) if first.is_ascii_alphabetic() => {
                let Some((mut tag, end)) = tag(source, at, kept) else { return };
                at = end;
                tag.in_noscript = found < noscript.end;
                if tag.name == "noscript" {
                    noscript.open(source, at);
                }
                if RAW_TEXT.contains(&tag.name.as_str()) {
                    let end = end_tag(source, at, &tag.name).unwrap_or(source.len());
                    tag.text = &source[at..end];
                    at = end;
                }
                if !visit(&tag) {
                    return;
                }
            }
            Some(_) | None => {}
        }
    }
}

fn find(source: &str, from: usize, text: &str) -> Option<usize> {
    source.get(from..)?.find(text).map(|at| from + at)
}

/// Range of the last `noscript` element.
#[derive(Default)]
struct Noscript {
    end: usize,
    /// True if no end tag follows. An element that is never closed has no content, as in the text of the page.
    is_unclosed: bool,
}

impl Noscript {
    /// Opens an element whose content begins at `at`, unless that is inside of one.
    fn open(&mut self, source: &str, at: usize) {
        if at <= self.end || self.is_unclosed {
            return;
        }
        match end_tag(source, at, "noscript") {
            Some(end) => self.end = end,
            None => self.is_unclosed = true,
        }
    }
}

/// Returns the offset behind the comment whose content begins at `from` (HTML, 13.2.5.43), or `None` if it does not end.
fn end_of_comment(source: &str, from: usize) -> Option<usize> {
    let content = source.get(from..)?;
    if let Some(empty) = [">", "->"].iter().find(|end| content.starts_with(**end)) {
        return Some(from + empty.len());
    }
    let mut at = from;
    loop {
        let dashes = find(source, at, "--")?;
        let behind = source.get(dashes + 2..)?;
        if let Some(end) = [">", "!>"].iter().find(|end| behind.starts_with(**end)) {
            return Some(dashes + 2 + end.len());
        }
        // The second dash may be the first one of the end.
        at = dashes + 1;
    }
}

/// Returns the start of the end tag.
fn end_tag(source: &str, from: usize, name: &str) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut at = from;
    while let Some(found) = find(source, at, "</") {
        let end = found + 2 + name.len();
        let is_name = bytes.get(found + 2..end).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
        let is_whole = bytes.get(end).is_none_or(|byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'));
        if is_name && is_whole {
            return Some(found);
        }
        at = found + 2;
    }
    None
}

/// Reads the tag whose name begins at `at`. Returns the offset behind it, or `None` if the page ends within it.
fn tag<'a>(source: &'a str, at: usize, kept: &[&str]) -> Option<(Tag<'a>, usize)> {
    let bytes = source.as_bytes();
    let ends_name = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/');
    let name_end = at + bytes[at..].iter().position(|byte| ends_name(*byte))?;
    let mut tag = Tag { name: lowercase(source, at, name_end), attributes: Vec::new(), text: "", in_noscript: false };
    let mut at = name_end;
    loop {
        at += bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b'/')?;
        if bytes[at] == b'>' {
            return Some((tag, at + 1));
        }
        // A name may begin with `=`.
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b'>' | b'/' | b'=');
        let end = at + 1 + bytes[at + 1..].iter().position(ends)?;
        let name = lowercase(source, at, end);
        let next = end + bytes[end..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        if bytes[next] != b'=' {
            at = next;
            continue;
        }
        let start = next + 1 + bytes[next + 1..].iter().position(|byte| !byte.is_ascii_whitespace())?;
        let (value, behind) = match bytes[start] {
            quote @ (b'"' | b'\'') => {
                let length = bytes[start + 1..].iter().position(|byte| *byte == quote)?;
                (start + 1..start + 1 + length, start + length + 2)
            }
            _ => {
                let length = bytes[start..].iter().position(|byte| byte.is_ascii_whitespace() || *byte == b'>')?;
                (start..start + length, start + length)
            }
        };
        if kept.contains(&name.as_str()) && tag.attributes.iter().all(|(known, _)| *known != name) {
            tag.attributes.push((name, source.get(value).unwrap_or_default()));
        }
        at = behind;
    }
}

fn lowercase(source: &str, from: usize, to: usize) -> String {
    let text = source.get(from..to).unwrap_or_default();
    text.chars().take(MAX_NAME).map(|character| character.to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tags(source: &str) -> Vec<(String, Option<String>)> {
        let mut found = Vec::new();
        scan(source, &["href"], |tag| {
            found.push((tag.name.clone(), tag.get("href")));
            true
        });
        found
    }

    #[test]
    fn tags_are_found_in_any_spelling() {
        let href = |value: &str| Some(value.to_owned());
        for (source, expected) in [
            ("<A HREF=x>", href("x")),
            ("<a class='a > b' href = \"x y\">", href("x y")),
            ("<a href=x?a=1&amp;b=2>", href("x?a=1&b=2")),
            ("<a href='&#x2F;x&#47;y&nbsp;'>", href("/x/y")),
            ("<a href='caf&eacute;?a=1&copy=2&lang=de'>", href("café?a=1&copy=2&lang=de")),
            ("<a href='first' href='second'>", href("first")),
            ("<a/href=x/>", href("x/")),
            ("<a =href href=x>", href("x")),
            ("<a title='é' href='ü'>", href("ü")),
            ("<a href>", None),
        ] {
            assert_eq!(tags(source), [("a".to_owned(), expected)], "{source}");
        }
    }

    #[test]
    fn text_and_comments_contain_no_tags() {
        for source in [
            "<!-- <a href=x> -->",
            "<script>'<a href=x>'</script>",
            "<style><a href=x></STYLE>",
            "<title><a href=x></title>",
            "<textarea><a href=x>",
            "<a href='x",
            "a < b",
        ] {
            assert!(tags(source).iter().all(|(name, _)| name != "a"), "{source}");
        }
        assert_eq!(tags("<script>x</scripty><a></script><a>").len(), 2);
    }

    #[test]
    fn comments_end_as_in_browsers() {
        for comment in
            ["<!-->", "<!--->", "<!---->", "<!----!>", "<!-- x -->", "<!-- x --!>", "<!-- x --->", "<!--> -->"]
        {
            assert_eq!(tags(&format!("{comment}<a>")).len(), 1, "{comment}");
        }
        for begin in ["<!--!>", "<!-- > ", "<!-- -> ", "<!-- -- > ", "<!-- --! > ", "<!-- - ->", "<!---!>"] {
            assert!(tags(&format!("{begin}<a>")).is_empty(), "{begin}");
            assert_eq!(tags(&format!("{begin}<a>--><b>")).len(), 1, "{begin}");
        }
    }

    #[test]
    fn hostile_pages_take_linear_time() {
        for unit in [
            "<a",
            "<a href='",
            "<!--",
            "<!-->",
            "<!-- --!",
            "<script>",
            "<noscript>",
            "<noscript></noscript>",
            "</",
            "<a b=c ",
            "&",
            "<a href=\"&#",
        ] {
            let source = unit.repeat(300_000);
            let started = std::time::Instant::now();
            tags(&source);
            assert!(started.elapsed().as_secs() < 5, "{unit}");
        }
    }

    proptest! {
        #[test]
        fn no_page_panics(source in "[<>/=a-c'\"! &#;é-]{0,60}") {
            tags(&source);
        }
    }
}
