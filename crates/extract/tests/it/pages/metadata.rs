//! Metadata of pages.

use super::{prose, web_at};
use extract::{DateSource, Extracted};

fn with_head(head: &str) -> Extracted {
    page("https://example.org/section/page.html", head, "")
}

fn page(url: &str, head: &str, body: &str) -> Extracted {
    web_at(url, &format!("<html><head>{head}</head><body>{body}{}{}</body></html>", prose("rivers"), prose("fords")))
}

#[test]
fn titles_drop_site_name() {
    for (head, body, title) in [
        ("<title>The ford</title>", "", "The ford"),
        ("<title>The ford - Example News</title><meta property='og:title' content='The ford'>", "", "The ford"),
        ("<title>The ford | Example News</title><meta property='og:site_name' content='Example News'>", "", "The ford"),
        ("<title>Example News: The ford</title><meta property='og:site_name' content='Example News'>", "", "The ford"),
        (
            "<meta property='og:title' content='The ford | Example News'><meta property='og:site_name' content='Example News'>",
            "",
            "The ford",
        ),
        ("<title>The ford – Example News</title>", "<h1>The ford</h1>", "The ford"),
        ("<title>Example News</title>", "<h1>The ford</h1>", "Example News"),
        // Templates of books and themes with a logo.
        (
            "<title>The ford - Rivers</title>",
            "<h1 class='menu-title'>Rivers</h1><main><h1 id='f'><a href='#f'>The ford</a></h1></main>",
            "The ford",
        ),
        (
            "<title>The ford – Rivers</title>",
            "<h1 class='logo'><a href='/'>Rivers</a></h1><article><h2>The ford</h2></article>",
            "The ford",
        ),
        ("<title>The ford - Rivers</title>", "<h1>Rivers</h1><main><h2>2. The ford</h2></main>", "The ford - Rivers"),
        ("<title>Example News: The ford</title>", "<main><h1>The ford</h1></main>", "The ford"),
        ("<title>The ford – Rivers</title>", "<header><h1>Rivers</h1></header><h2>The ford</h2>", "The ford"),
        ("<title>Rivers - The ford</title>", "<h1>The ford</h1><h2>Rivers</h2>", "The ford"),
        // The only headline, and headings of the second level that are logos, menus, sections.
        ("<title>Rivers | The ford</title>", "<h1 class='entry-title'>The ford</h1><h2>A history</h2>", "The ford"),
        ("<title>Rivers - The ford</title>", "<header><h1>The ford</h1></header>", "The ford"),
        ("<title>Rivers - The ford</title>", "<header><h2>Rivers</h2></header><h1>The ford</h1>", "The ford"),
        ("<title>Fords - Rivers</title>", "<header><h2>Rivers</h2></header><h1>The fords</h1>", "Fords - Rivers"),
        ("<title>Tolls: for all fords</title>", "<nav><h2>Tolls</h2></nav><h1>Our tolls</h1>", "Tolls: for all fords"),
        ("<title>Fords: a history</title>", "<h1>Fords, a history</h1><h2>Fords</h2>", "Fords: a history"),
        ("<title>keys: an interface</title>", "<div><h2>keys</h2></div>", "keys: an interface"),
        ("<title>The ford - closed</title>", "<h1>Welcome</h1>", "The ford - closed"),
        ("<title>  The\n ford &amp; the &#8216;toll&#8217; </title>", "", "The ford & the ‘toll’"),
        ("", "<h1>The <em>ford</em></h1>", "The ford"),
        ("<title></title><meta name='twitter:title' content='The ford'>", "", "The ford"),
        (
            "<script type='application/ld+json'>{\"@type\":\"Article\",\"headline\":\"The ford\"}</script>",
            "",
            "The ford",
        ),
        ("", "", "page"),
    ] {
        assert_eq!(page("https://example.org/a", head, body).title.as_deref(), Some(title), "{head} {body}");
    }
}

#[test]
fn authors_are_names_of_people() {
    let data = |author: &str| {
        format!(
            "<script type='application/ld+json'>{{\"@context\":\"https://schema.org\",\"@graph\":[{{\"@type\":\"WebSite\",\"name\":\"x\"}},{{\"@type\":\"BlogPosting\",\"author\":{author}}}]}}</script>"
        )
    };
    for (head, body, author) in [
        ("<meta name='author' content='Ann Author'>".to_owned(), "", Some("Ann Author")),
        ("<meta name='author' content='By Ann Author'>".to_owned(), "", Some("Ann Author")),
        ("<meta property='article:author' content='https://social.example/ann'>".to_owned(), "", None),
        (data("{\"@type\":\"Person\",\"name\":\"Ann Author\"}"), "", Some("Ann Author")),
        (data("[{\"name\":\"Ann Author\"},{\"name\":\"Bob\"}]"), "", Some("Ann Author, Bob")),
        (data("\"Ann Author\""), "", Some("Ann Author")),
        (String::new(), "<a rel='author' href='/ann'>Ann Author</a>", Some("Ann Author")),
        (String::new(), "<span itemprop='author'><span itemprop='name'>Ann Author</span></span>", Some("Ann Author")),
        (String::new(), "", None),
    ] {
        assert_eq!(page("https://example.org/a", &head, body).author.as_deref(), author, "{head} {body}");
    }
}

#[test]
fn language_is_declared_or_detected() {
    for (html, language) in [
        ("<html lang='de-AT'>", "de"),
        ("<html xml:lang='fr'>", "fr"),
        ("<html><head><meta http-equiv='content-language' content='nl-NL, en'></head>", "nl"),
        ("<html><head><meta property='og:locale' content='pt_BR'></head>", "pt"),
        ("<html lang=''>", "en"),
        ("<html lang='xx-nonsense'>", "en"),
    ] {
        let read = web_at("https://example.org/a", &format!("{html}<body>{}{}", prose("rivers"), prose("fords")));
        assert_eq!(read.language.as_deref(), Some(language), "{html}");
    }
}

#[test]
fn most_reliable_publication_date_wins() {
    const MARCH: i64 = 1_709_251_200_000;
    let plain = "https://example.org/a";
    for (url, head, body, from) in [
        (
            plain,
            "<meta property='article:published_time' content='2024-03-01T00:00:00Z'><meta property='article:modified_time' content='2024-05-01'>",
            "<time datetime='2023-01-01'>old</time>",
            DateSource::Meta,
        ),
        (plain, "<meta name='date' content='2024-03-01'>", "", DateSource::Meta),
        (plain, "<meta name='DC.date.issued' content='2024-03-01'>", "", DateSource::Meta),
        (plain, "<meta itemprop='datePublished' content='2024-03-01T01:00:00+01:00'>", "", DateSource::Meta),
        (
            plain,
            "<script type='application/ld+json'>{\"@graph\":[{\"@type\":\"NewsArticle\",\"dateModified\":\"2024-05-01\",\"datePublished\":\"2024-03-01\"}]}</script>",
            "",
            DateSource::LinkedData,
        ),
        (
            plain,
            "<script type='application/ld+json'>[{\"@type\":\"BreadcrumbList\"},{\"@type\":\"Article\",\"datePublished\":\"2024-03-01\"}]</script>",
            "",
            DateSource::LinkedData,
        ),
        (plain, "", "<time datetime='2024-03-01'>1 March</time>", DateSource::Time),
        (
            plain,
            "",
            "<span itemprop='datePublished' content='2024-03-01'>1 March</span><time datetime='2020-01-01'></time><time datetime='2021-01-01'></time>",
            DateSource::Meta,
        ),
        (plain, "", "<abbr class='published' title='2024-03-01T00:00:00Z'>1 March</abbr>", DateSource::Time),
        ("https://example.org/2024/03/01/the-ford", "", "", DateSource::Url),
        ("https://example.org/news/2024-03-01-the-ford.html", "", "", DateSource::Url),
        ("https://example.org/news/20240301/the-ford", "", "", DateSource::Url),
    ] {
        let read = page(url, head, body);
        assert_eq!((read.published_at, read.published_from), (Some(MARCH), Some(from)), "{url} {head} {body}");
    }
    for (url, head) in [
        (plain, "<meta name='date' content='soon'>"),
        ("https://example.org/12/34/56", ""),
        ("https://example.org/item/20249999", ""),
        ("https://example.org/id-2024-99-01", ""),
    ] {
        assert_eq!(page(url, head, "").published_at, None, "{url} {head}");
    }
}

#[test]
fn dates_of_changes_and_events_are_no_publication() {
    let time = "<time datetime='2024-05-01'>1 May</time>";
    for body in [
        "<time itemprop='dateModified' datetime='2024-05-01'>1 May</time>".to_owned(),
        "<p itemscope itemtype='https://schema.org/Event'><time itemprop='startDate' datetime='2031-05-01'>1 May</time></p>".to_owned(),
        format!("<p class='VPLastUpdated'>Last updated: {time}</p>"),
        format!("<span class='theme-last-updated'>Last updated on <b>{time}</b></span>"),
        "<time class='modified' datetime='2024-05-01'>1 May</time>".to_owned(),
    ] {
        assert_eq!(page("https://example.org/a", "", &body).published_at, None, "{body}");
        let both = format!("<time datetime='2024-03-01'>1 March</time>{body}");
        assert_eq!(page("https://example.org/a", "", &both).published_at, Some(1_709_251_200_000), "{both}");
    }
    // hAtom has one date for an entry that was never changed.
    for class in ["updated", "entry-date published updated"] {
        let body = format!("<time class='{class}' datetime='2024-03-01'>1 March</time>");
        assert_eq!(page("https://example.org/a", "", &body).published_at, Some(1_709_251_200_000), "{body}");
    }
}

#[test]
fn descriptions_and_canonical_links_are_read() {
    let read = with_head(
        "<meta name='description' content=' Of fords. '><meta property='og:description' content='Other'><link rel='canonical' href='/ford'>",
    );
    assert_eq!(read.description.as_deref(), Some("Of fords."));
    assert_eq!(read.canonical_link.as_deref(), Some("https://example.org/ford"));
    let read = with_head(
        "<meta property='og:description' content='Of fords.'><link rel='alternate canonical' href='javascript:x'>",
    );
    assert_eq!(read.description.as_deref(), Some("Of fords."));
    assert_eq!(read.canonical_link, None);
}
