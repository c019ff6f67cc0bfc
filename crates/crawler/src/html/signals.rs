//! Links and directives of a page.

use super::tags::{Tag, scan};
use crate::directives::Directives;

/// Maximum number of links of a page. Further ones are counted.
const MAX_LINKS: usize = 10_000;
/// Maximum number of references in the head: other languages, feeds.
const MAX_REFERENCES: usize = 500;
/// Maximum length of a link as written.
const MAX_LINK: usize = 8_192;
/// Delay up to which a refresh is a redirect rather than an update of the page.
const MAX_REFRESH_SECONDS: u32 = 10;

const KEPT: [&str; 9] = ["href", "src", "rel", "name", "content", "http-equiv", "hreflang", "type", "property"];

/// Link as written in the page.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Link {
    pub target: String,
    pub nofollow: bool,
}

/// Signals of a page for crawlers.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct PageSignals {
    /// `<base href>`.
    pub base: Option<String>,
    pub title: Option<String>,
    pub directives: Directives,
    pub canonical: Option<String>,
    /// Target of `<meta http-equiv=refresh>` outside of `noscript`.
    pub refresh: Option<String>,
    /// Versions in other languages.
    pub translations: Vec<String>,
    pub feeds: Vec<String>,
    pub links: Vec<Link>,
    /// Links beyond the maximum.
    pub dropped: usize,
}

/// Reads the signals of a page for the crawler with this robots.txt token.
pub fn read(source: &str, token: &str) -> PageSignals {
    let mut signals = PageSignals::default();
    scan(source, &KEPT, |tag| {
        signals.add(tag, token);
        true
    });
    signals
}

impl PageSignals {
    fn add(&mut self, tag: &Tag, token: &str) {
        match tag.name.as_str() {
            "a" | "area" => self.add_link(tag, "href"),
            "frame" | "iframe" => self.add_link(tag, "src"),
            "link" => self.add_reference(tag),
            "meta" => self.add_meta(tag, token),
            "base" if self.base.is_none() => self.base = tag.get("href"),
            "title" if self.title.is_none() => self.title = Some(htmlize::unescape(tag.text.trim()).into_owned()),
            _ => {}
        }
    }

    fn add_link(&mut self, tag: &Tag, attribute: &str) {
        let Some(target) = tag.get(attribute).filter(|target| is_address(target)) else { return };
        let nofollow = tag.get("rel").is_some_and(|rel| has_word(&rel, "nofollow"));
        self.push_link(target, nofollow);
    }

    fn push_link(&mut self, target: String, nofollow: bool) {
        if self.links.len() >= MAX_LINKS {
            self.dropped += 1;
            return;
        }
        self.links.push(Link { target, nofollow });
    }

    fn add_reference(&mut self, tag: &Tag) {
        let (Some(rel), Some(target)) = (tag.get("rel"), tag.get("href")) else { return };
        if !is_address(&target) {
            return;
        }
        let kind = tag.get("type").unwrap_or_default().to_ascii_lowercase();
        if has_word(&rel, "canonical") {
            self.canonical.get_or_insert(target);
        } else if has_word(&rel, "next") || has_word(&rel, "prev") {
            self.push_link(target, false);
        } else if has_word(&rel, "alternate") {
            let is_feed =
                matches!(kind.as_str(), "application/rss+xml" | "application/atom+xml" | "application/rdf+xml");
            let list = if is_feed { &mut self.feeds } else { &mut self.translations };
            if (is_feed || tag.get("hreflang").is_some()) && list.len() < MAX_REFERENCES {
                list.push(target);
            }
        }
    }

    fn add_meta(&mut self, tag: &Tag, token: &str) {
        let Some(content) = tag.get("content") else { return };
        let name = tag.get("name").unwrap_or_default();
        if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(token) {
            self.directives.add(&content);
        }
        // In `noscript` it is for browsers without scripts: others show the page.
        let is_refresh = tag.get("http-equiv").is_some_and(|name| name.eq_ignore_ascii_case("refresh"));
        if is_refresh && !tag.in_noscript && self.refresh.is_none() {
            self.refresh = refresh_target(&content).filter(|target| is_address(target));
        }
    }
}

/// Returns true if the link may lead to a page.
fn is_address(target: &str) -> bool {
    if target.is_empty() || target.starts_with('#') || target.len() > MAX_LINK {
        return false;
    }
    let scheme = target.split([':', '/', '?', '#']).next().filter(|scheme| scheme.len() < target.len());
    match scheme {
        Some(scheme) if target[scheme.len()..].starts_with(':') => {
            scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https")
        }
        Some(_) | None => true,
    }
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|found| found.eq_ignore_ascii_case(word))
}

/// Parses `5; url=target`.
fn refresh_target(content: &str) -> Option<String> {
    let (delay, rest) = content.split_once([';', ','])?;
    let seconds: u32 = delay.trim().split('.').next()?.parse().ok()?;
    let rest = rest.trim();
    let is_url = rest.get(..3).is_some_and(|start| start.eq_ignore_ascii_case("url"));
    let target = if is_url { rest[3..].trim_start().strip_prefix('=')? } else { rest };
    let target = target.trim().trim_matches(['"', '\'']).trim();
    (seconds <= MAX_REFRESH_SECONDS && !target.is_empty()).then(|| target.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(signals: &PageSignals) -> Vec<&str> {
        signals.links.iter().map(|link| link.target.as_str()).collect()
    }

    #[test]
    fn links_are_read_with_their_relation() {
        let signals = read(
            "<base href=/docs/><title>A &amp; B</title><a href=a.html><a rel='nofollow ugc' href=b>b</a><area href=c>\
             <iframe src=d></iframe><a href='#top'><a href='mailto:x@y'><a href='javascript:x()'><a href=''>\
             <a href='HTTP://h/x'><a href='a:b'><a href='./a:b'><a href='?q=a:b'>",
            "bot",
        );
        assert_eq!(signals.base.as_deref(), Some("/docs/"));
        assert_eq!(signals.title.as_deref(), Some("A & B"));
        assert_eq!(targets(&signals), ["a.html", "b", "c", "d", "HTTP://h/x", "./a:b", "?q=a:b"]);
        let nofollow: Vec<bool> = signals.links.iter().map(|link| link.nofollow).collect();
        assert_eq!(nofollow[..2], [false, true]);
    }

    #[test]
    fn references_of_the_head_are_read() {
        let signals = read(
            "<link rel=Canonical href=/a><link rel=canonical href=/b><link rel=alternate hreflang=de href=/de>\
             <link rel=alternate type='application/rss+xml' href=/feed><link rel=stylesheet href=/x.css>\
             <link rel=alternate media=print href=/print><link rel=next href=/2>",
            "bot",
        );
        assert_eq!(signals.canonical.as_deref(), Some("/a"));
        assert_eq!((signals.translations, signals.feeds), (vec!["/de".to_owned()], vec!["/feed".to_owned()]));
        assert_eq!(signals.links, [Link { target: "/2".to_owned(), nofollow: false }]);
    }

    #[test]
    fn directives_are_those_for_all_crawlers_and_for_this_one() {
        for (page, noindex, nofollow) in [
            ("<meta name=ROBOTS content='NoIndex, follow'>", true, false),
            ("<meta name=robots content=none>", true, true),
            ("<meta name=bot content=nofollow>", false, true),
            ("<meta name=other content=none>", false, false),
            ("<meta name=robots content=index><meta name=bot content=noindex>", true, false),
        ] {
            let found = read(page, "bot").directives;
            assert_eq!((found.noindex, found.nofollow), (noindex, nofollow), "{page}");
        }
    }

    #[test]
    fn quick_refresh_is_a_redirect() {
        for (content, target) in [
            ("0; url=/a", Some("/a")),
            ("0;URL='http://h/a'", Some("http://h/a")),
            ("3, /a", Some("/a")),
            ("0.5; url = /a", Some("/a")),
            ("300; url=/a", None),
            ("5", None),
            ("0; url=", None),
            ("0; url=javascript:x()", None),
        ] {
            let page = format!("<meta http-equiv=refresh content=\"{content}\">");
            assert_eq!(read(&page, "bot").refresh.as_deref(), target, "{content}");
        }
    }

    #[test]
    fn refresh_for_browsers_without_scripts_is_no_redirect() {
        let refresh = "<meta http-equiv=refresh content='0; url=/a'>";
        for (page, target) in [
            (format!("<noscript>{refresh}</noscript><p>text"), None),
            (format!("<NOSCRIPT class=x><p><noscript>{refresh}</NoScript ><p>text"), None),
            (format!("<noscript><meta http-equiv=refresh content='0; url=/b'></noscript>{refresh}"), Some("/a")),
            // Elements that are never closed, and what is none.
            (format!("<noscript><p>text{refresh}"), Some("/a")),
            (format!("<noscript></noscript><noscript><noscript>{refresh}"), Some("/a")),
            (format!("<script>'<noscript>'</script>{refresh}</noscript>"), Some("/a")),
            (format!("<!-- <noscript> -->{refresh}</noscript>"), Some("/a")),
            (format!("<noscripted>{refresh}</noscripted>"), Some("/a")),
        ] {
            assert_eq!(read(&page, "bot").refresh.as_deref(), target, "{page}");
        }
    }

    #[test]
    fn links_and_directives_for_browsers_without_scripts_count() {
        let signals = read("<noscript><a href=/a>a</a><meta name=robots content=noindex></noscript>", "bot");
        assert_eq!((targets(&signals), signals.directives.noindex), (vec!["/a"], true));
    }

    #[test]
    fn links_are_bounded() {
        for link in ["<a href=/a>", "<link rel=next href=/a>"] {
            let signals = read(&link.repeat(MAX_LINKS + 5), "bot");
            assert_eq!((signals.links.len(), signals.dropped), (MAX_LINKS, 5), "{link}");
        }
    }
}
