//! What a page says about itself in its head and in its linked data.

use dom_query::Document;
use url::Url;

use super::links;
use crate::{dates, language, names};

#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub title: Option<String>,
    pub author: Option<String>,
    pub description: Option<String>,
    pub language: Option<String>,
    pub published_at: Option<i64>,
    pub canonical_link: Option<String>,
}

/// Reads what is declared beyond doubt; guesses (dates in the text, headings as titles) are left to the extractor.
pub(super) fn read(page: &Document, base: Option<&Url>) -> Metadata {
    let meta = |names: &[&str]| {
        names.iter().find_map(|name| {
            let found = page
                .select_single(&format!("meta[property='{name}' i], meta[name='{name}' i], meta[itemprop='{name}' i]"));
            found.attr("content").as_deref().and_then(names::one_line)
        })
    };
    let date = meta(&[
        "article:published_time",
        "datePublished",
        "og:published_time",
        "dc.date.issued",
        "dc.date",
        "date",
        "citation_publication_date",
        "sailthru.date",
        "parsely-pub-date",
    ]);
    Metadata {
        title: meta(&["og:title", "citation_title", "dc.title", "twitter:title"])
            .or_else(|| names::one_line(&page.select_single("head > title").text())),
        author: meta(&["author", "article:author", "citation_author", "dc.creator", "parsely-author"])
            .filter(|author| !author.starts_with("http")),
        description: meta(&["description", "og:description", "dc.description", "twitter:description"]),
        language: page
            .html_root()
            .attr("lang")
            .or_else(|| page.html_root().attr("xml:lang"))
            .as_deref()
            .and_then(language::from_tag)
            .or_else(|| {
                meta(&["og:locale", "content-language", "dc.language"]).as_deref().and_then(language::from_tag)
            }),
        published_at: date.as_deref().and_then(dates::parse),
        canonical_link: page
            .select_single("link[rel='canonical' i]")
            .attr("href")
            .and_then(|href| links::absolute(&href, base))
            .filter(|link| link.starts_with("http")),
    }
}
