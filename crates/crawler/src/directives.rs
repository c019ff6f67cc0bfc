//! Directives for crawlers: `<meta name=robots>` and `X-Robots-Tag`.

/// Directives of one page.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Directives {
    pub noindex: bool,
    pub nofollow: bool,
}

/// Directives with a value, which follows a colon as the rules of a named crawler do.
const WITH_VALUE: [&str; 4] = ["max-image-preview", "max-snippet", "max-video-preview", "unavailable_after"];

impl Directives {
    /// Adds the directives of a `meta` element.
    pub fn add(&mut self, list: &str) {
        for word in list.split([',', ' ', '\t', '\n']) {
            let is = |name: &str| word.trim().eq_ignore_ascii_case(name);
            self.noindex |= is("noindex") || is("none");
            self.nofollow |= is("nofollow") || is("none");
        }
    }

    /// Adds the directives of an `X-Robots-Tag` header for the crawler with this token: those for all, and those after its
    /// name.
    pub fn add_header(&mut self, value: &str, token: &str) {
        let mut applies = true;
        for part in value.split(',') {
            let part = match part.split_once(':') {
                Some((name, rest))
                    if is_crawler(name) && !WITH_VALUE.iter().any(|known| name.trim().eq_ignore_ascii_case(known)) =>
                {
                    applies = name.trim().eq_ignore_ascii_case(token);
                    rest
                }
                Some(_) | None => part,
            };
            if applies {
                self.add(part);
            }
        }
    }
}

/// Returns true if the text before a colon can be the name of a crawler: one word. A comma in a date leaves the rest of it with
/// the colons of its time.
fn is_crawler(text: &str) -> bool {
    let name = text.trim();
    name.contains(char::is_alphabetic) && !name.contains(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_name_their_crawler() {
        for (value, noindex, nofollow) in [
            ("noindex", true, false),
            ("NONE", true, true),
            ("googlebot: noindex, nofollow", false, false),
            ("Bot: noindex, nofollow", true, true),
            ("nofollow, otherbot: noindex", false, true),
            ("otherbot: noindex, bot: nofollow", false, true),
            ("unavailable_after: 25 Jun 2010 15:00:00 PST, noindex", true, false),
            ("unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, noindex", true, false),
            ("otherbot: unavailable_after: Wed, 03 Dec 2025 13:09:53 GMT, noindex", false, false),
            ("other2bot: noindex", false, false),
            ("max-snippet: 5", false, false),
            ("all", false, false),
        ] {
            let mut found = Directives::default();
            found.add_header(value, "bot");
            assert_eq!((found.noindex, found.nofollow), (noindex, nofollow), "{value}");
        }
    }
}
