//! Metadata of a page, from its head, linked data and dedicated elements.

use dom_query::{Document, NodeRef};
use url::Url;

use super::title::Headline;
use super::{linked_data, links, title};
use crate::{DateSource, dates, language, names};

#[derive(Debug, Default)]
pub(super) struct Metadata {
    pub title: Option<String>,
    pub author: Option<String>,
    pub description: Option<String>,
    pub language: Option<String>,
    /// Milliseconds since 1970-01-01 UTC, and their source.
    pub published: Option<(i64, DateSource)>,
    pub canonical_link: Option<String>,
    /// Full text from structured data, meant for search engines.
    pub body: Option<String>,
}

const TITLES: [&str; 4] = ["og:title", "citation_title", "dc.title", "twitter:title"];
const SITES: [&str; 2] = ["og:site_name", "application-name"];
const AUTHORS: [&str; 6] = ["author", "article:author", "citation_author", "dc.creator", "parsely-author", "byl"];
const DESCRIPTIONS: [&str; 4] = ["description", "og:description", "dc.description", "twitter:description"];
const DATES: [&str; 13] = [
    "article:published_time",
    "datePublished",
    "og:published_time",
    "pubdate",
    "og:pubdate",
    "publish-date",
    "citation_publication_date",
    "dc.date.issued",
    "dc.date",
    "dcterms.created",
    "sailthru.date",
    "parsely-pub-date",
    "date",
];

/// Elements around the content, and around the name of the site.
const CONTENT: [&str; 2] = ["main", "article"];
const APART: [&str; 2] = ["header", "nav"];
/// Maximum number of headings that are compared with the title.
const MAX_HEADLINES: usize = 8;
/// Item properties of dates that are not those of a page's publication.
const OTHER_DATES: [&str; 4] = ["dateModified", "startDate", "endDate", "validThrough"];
/// Number of elements around a date whose classes can name it.
const MAX_AROUND_DATE: usize = 3;

/// Reads declared metadata. The date falls back to a visible `time` element and then to the URL.
pub(super) fn read(page: &Document, base: Option<&Url>) -> Metadata {
    let data = linked_data::read(page);
    let meta = MetaElements::of(page);
    let declared_date = meta.find(&DATES).as_deref().and_then(dates::parse);
    let date = declared_date
        .map(|at| (at, DateSource::Meta))
        .or_else(|| data.published_at.map(|at| (at, DateSource::LinkedData)))
        .or_else(|| visible_date(page).map(|at| (at, DateSource::Time)))
        .or_else(|| base.and_then(date_in_url).map(|at| (at, DateSource::Url)));
    let heading = || page.select("h1").nodes().first().and_then(|heading| names::one_line(&heading.text()));
    let written = || {
        page.select("[rel=author], [itemprop=author]")
            .nodes()
            .first()
            .and_then(|author| names::one_line(&author.text()))
    };
    let root = page.html_root();
    let declared = root.attr("lang").or_else(|| root.attr("xml:lang"));
    let site = meta.find(&SITES).or(data.site);
    let declared_title =
        meta.find(&TITLES).or(data.headline).or_else(|| names::one_line(&page.select_single("head > title").text()));
    Metadata {
        title: declared_title
            .map(|title| title::without_site(title, site.as_deref(), || headlines(page)))
            .or_else(heading),
        author: meta
            .find(&AUTHORS)
            .filter(|author| !author.starts_with("http"))
            .or(data.author)
            .or_else(written)
            .map(|author| author.strip_prefix("By ").map_or(author.clone(), str::to_owned))
            .filter(|author| author.len() <= 200),
        description: meta.find(&DESCRIPTIONS).or(data.description),
        language: declared.as_deref().and_then(language::from_tag).or_else(|| {
            meta.find(&["og:locale", "content-language", "dc.language"]).as_deref().and_then(language::from_tag)
        }),
        published: date,
        body: data.body,
        canonical_link: page
            .select_single("link[rel='canonical' i]")
            .attr("href")
            .and_then(|href| links::absolute(&href, base))
            .filter(|link| link.starts_with("http")),
    }
}

/// `meta` elements by lowercase property, name or item property.
struct MetaElements(Vec<(String, String)>);

impl MetaElements {
    fn of(page: &Document) -> Self {
        let mut found = Vec::new();
        for element in page.select("meta[content], [itemprop=datePublished][content]").nodes() {
            let content = element.attr("content").as_deref().and_then(names::one_line);
            for attribute in ["property", "name", "itemprop", "http-equiv"] {
                if let (Some(name), Some(content)) = (element.attr(attribute), &content) {
                    found.push((name.to_ascii_lowercase(), content.clone()));
                }
            }
        }
        Self(found)
    }

    /// Returns the first match in the order of `names`.
    fn find(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| {
            self.0.iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, content)| content.clone())
        })
    }
}

/// Returns the first headings of a page that may be its headline: those of the first level, and the first of the second
/// if the first level is outside of the content or in a header. Themes use it for the name of the site, and then the
/// second for the page.
fn headlines(page: &Document) -> Vec<Headline> {
    let headings = page.select("h1, h2");
    let (titles, sections): (Vec<NodeRef>, Vec<NodeRef>) =
        headings.nodes().iter().copied().partition(|heading| heading.has_name("h1"));
    let begins = headings.nodes().first().is_some_and(|heading| heading.has_name("h1"));
    let is_below_logo = |section: &&NodeRef| {
        let is_outside = titles.first().is_some_and(|title| !is_in(title, &CONTENT));
        let is_apart = is_in(section, &CONTENT) || titles.first().is_some_and(|title| is_in(title, &APART));
        begins && is_outside && is_apart && !is_in(section, &APART)
    };
    let section = sections.first().filter(is_below_logo);
    let found: Vec<(&NodeRef, bool)> =
        titles.iter().take(MAX_HEADLINES).chain(section).map(|heading| (heading, is_in(heading, &CONTENT))).collect();
    // A logo stands outside of the content in which there is another heading.
    let any_in_content = found.iter().any(|(_, in_content)| *in_content);
    let read = |(at, (heading, in_content)): (usize, &(&NodeRef, bool))| {
        let text = names::one_line(&heading.text())?;
        let may_be_logo = at == 0 && !in_content && any_in_content;
        Some(Headline { text, may_be_logo, is_section: heading.has_name("h2") })
    };
    found.iter().enumerate().filter_map(read).collect()
}

/// Returns true if an element with one of the names is around the heading.
fn is_in(heading: &NodeRef, names: &[&str]) -> bool {
    heading.ancestors_it(None).any(|around| names.iter().any(|name| around.has_name(name)))
}

/// Returns the date of the first `time` marked as publication date, of the only `time` on the page that can be one, or
/// of hAtom markup.
fn visible_date(page: &Document) -> Option<i64> {
    let times = page.select("time[datetime]");
    let marked = page.select("time[datetime][pubdate], time[datetime][itemprop=datePublished], time[datetime].published, time[datetime].entry-date");
    let only = || {
        let mut candidates = times.nodes().iter().filter(|time| !is_other_date(time));
        candidates.next().filter(|_| candidates.next().is_none())
    };
    let time = marked.nodes().first().or_else(only);
    let abbreviated = || page.select_single("abbr.published[title]").attr("title");
    dates::parse(&time.and_then(|time| time.attr("datetime")).or_else(abbreviated)?)
}

/// Returns true for the date of a change or an event.
fn is_other_date(time: &NodeRef) -> bool {
    let property = time.attr("itemprop").unwrap_or_default();
    let mut named = std::iter::once(*time).chain(time.ancestors_it(Some(MAX_AROUND_DATE)));
    property.split_whitespace().any(|property| OTHER_DATES.contains(&property)) || named.any(|node| names_change(&node))
}

/// Returns true if a class of the element says that it holds the date of a change: `last-updated`, `LastUpdated`.
fn names_change(element: &NodeRef) -> bool {
    let classes = element.attr("class").unwrap_or_default().to_ascii_lowercase();
    // In hAtom, `updated` alone is the date of an entry without another one.
    classes
        .split_whitespace()
        .any(|class| class.contains("modified") || (class.contains("updated") && class != "updated"))
}

/// Parses `/2024/03/01/`, `/2024-03-01-title` or `/20240301/` in the path.
fn date_in_url(url: &Url) -> Option<i64> {
    let digits = |part: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let dated = |year: &str, month: &str, day: &str| {
        let fits = digits(year, 4..=4) && digits(month, 1..=2) && digits(day, 1..=2);
        // Earlier years cannot be web pages: such numbers are ids.
        let of_the_web = year.parse::<u16>().is_ok_and(|year| (1991..=2100).contains(&year));
        (fits && of_the_web).then(|| dates::parse(&format!("{year}-{month}-{day}"))).flatten()
    };
    let parts: Vec<&str> = url.path_segments()?.collect();
    let in_folders = parts.windows(3).find_map(|window| dated(window[0], window[1], window[2]));
    in_folders.or_else(|| {
        parts.iter().find_map(|part| {
            let mut words = part.splitn(4, ['-', '_', '.']);
            let (first, second, third) = (words.next()?, words.next(), words.next());
            if digits(first, 8..=8) {
                return dated(&first[..4], &first[4..6], &first[6..]);
            }
            dated(first, second?, third?)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn publication_dates_are_found() {
        let march = Some(1_709_251_200_000);
        for (page, address) in [
            ("<meta property='article:published_time' content='2024-03-01T00:00:00+00:00'>", "https://a.b/c"),
            ("<time datetime='2024-03-01'>March</time>", "https://a.b/c"),
            (
                "<time datetime='2020-01-01'></time><time itemprop='datePublished' datetime='2024-03-01'></time>",
                "https://a.b/c",
            ),
            ("<p>no date</p>", "https://a.b/news/2024/3/1/title.html"),
        ] {
            let url = Url::parse(address).expect("an address");
            assert_eq!(read(&Document::from(page), Some(&url)).published.map(|(at, _)| at), march, "{page}");
        }
        let url = Url::parse("https://a.b/12/34/56").expect("an address");
        assert_eq!(read(&Document::from("<p>"), Some(&url)).published, None);
    }
}
