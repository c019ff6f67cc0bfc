//! Absolute links and image URLs.

use dom_query::Document;
use url::Url;

/// Returns the base URL of relative links: `<base href>`, itself relative to the page's URL.
pub(super) fn base(page: &Document, base_url: Option<&str>) -> Option<Url> {
    let origin = base_url.and_then(|url| Url::parse(url).ok());
    let declared = page.select_single("base[href]").attr("href");
    match (declared, &origin) {
        (Some(declared), Some(origin)) => origin.join(declared.trim()).ok().or_else(|| Some(origin.clone())),
        (Some(declared), None) => Url::parse(declared.trim()).ok(),
        (None, _) => origin,
    }
    .filter(|url| !url.cannot_be_a_base())
}

/// Makes `a[href]` and `img[src]` absolute. Lazily loaded images get their real URL. Links that run scripts or embed
/// their content lose their target.
pub(super) fn make_absolute(page: &Document, base: Option<&Url>) {
    for link in page.select("a[href]").nodes() {
        // Fragments stay relative: consumers recognize places on the same page by them.
        if link.attr("href").is_some_and(|href| href.trim_start().starts_with('#')) {
            continue;
        }
        match link.attr("href").and_then(|href| absolute(&href, base)) {
            Some(target) => link.set_attr("href", &target),
            None => link.remove_attr("href"),
        }
    }
    for image in page.select("img").nodes() {
        let single = ["src", "data-src", "data-original", "data-lazy-src"].iter().filter_map(|name| image.attr(name));
        let sets = ["srcset", "data-srcset"].iter().filter_map(|name| image.attr(name));
        let source = single
            .map(|source| source.to_string())
            .chain(sets.filter_map(|set| first_of_set(&set)))
            .find_map(|source| absolute(&source, base));
        match source {
            Some(source) => image.set_attr("src", &source),
            None => image.remove_attr("src"),
        }
    }
}

/// Returns the first URL of a `srcset`.
fn first_of_set(set: &str) -> Option<String> {
    set.split_whitespace().next().map(|source| source.trim_end_matches(',').to_owned())
}

/// Returns the absolute form of a link; without a base, relative links are kept. Returns `None` for schemes that are
/// not addresses.
pub(super) fn absolute(link: &str, base: Option<&Url>) -> Option<String> {
    let link = link.trim();
    if link.is_empty() {
        return None;
    }
    match (Url::parse(link), base) {
        (Ok(url), _) => matches!(url.scheme(), "http" | "https" | "mailto" | "tel" | "ftp").then(|| url.to_string()),
        (Err(_), Some(base)) => base.join(link).ok().map(String::from),
        // A space or a parenthesis would end a markdown link.
        (Err(_), None) => Some(link.replace(' ', "%20").replace('(', "%28").replace(')', "%29")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_joined_with_declared_base() {
        let page = Document::from(
            "<base href='/docs/'><a href='a.html'>a</a><a href='javascript:x()'>b</a><a href='#top'>c</a>\
             <img src='data:image/gif;base64,R0' data-src='p.png'>",
        );
        let base = base(&page, Some("https://example.org/x/y?q=1"));
        make_absolute(&page, base.as_ref());
        let html = page.html().to_string();
        assert!(html.contains("href=\"https://example.org/docs/a.html\""), "{html}");
        assert!(html.contains("src=\"https://example.org/docs/p.png\""), "{html}");
        assert!(html.contains("<a>b</a>") && html.contains("href=\"#top\""), "{html}");
    }

    #[test]
    fn links_are_kept_without_base() {
        assert_eq!(absolute("../a b.html", None).as_deref(), Some("../a%20b.html"));
        assert_eq!(absolute("HTTP://Example.org", None).as_deref(), Some("http://example.org/"));
        assert_eq!(absolute("data:text/html,x", None), None);
    }
}
