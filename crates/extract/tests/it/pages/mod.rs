//! Extraction of web pages, each with the boilerplate of a real site.

mod articles;
mod clutter;
mod hidden;
mod listings;
mod markup;
mod metadata;
mod openings;
mod references;

use extract::{ExtractRequest, Extracted, FileKind, extract};

/// Returns running text of four sentences; `about` makes each text unique.
fn prose(about: &str) -> String {
    format!(
        "<p>For many years nobody in the valley had thought about {about}, and those who had were not asked. \
         The council met twice in spring, heard three engineers, and put the matter off until autumn. \
         By then the river had risen, the old road was closed, and the argument had begun again. \
         What follows is what was known about {about} at the time, and what has come to light since.</p>"
    )
}

/// Wraps a body in a page with the menus and footer of a site.
fn site(title: &str, body: &str) -> String {
    format!(
        "<!DOCTYPE html><html lang='en'><head><meta charset='utf-8'><title>{title} - Example Site</title>\
         <script>var menu = '<p>not text</p>';</script></head><body>\
         <header class='site-header'><a href='/'>Example Site</a><nav><ul><li><a href='/news'>News</a></li>\
         <li><a href='/shop'>Shop</a></li><li><a href='/about'>About us</a></li></ul></nav>\
         <form role='search'><input name='q'><button>Search</button></form></header>{body}\
         <footer><ul><li><a href='/imprint'>Imprint</a></li><li><a href='/privacy'>Privacy policy</a></li></ul>\
         <p>© 2024 Example Site Ltd. All rights reserved.</p></footer></body></html>"
    )
}

/// Reads the page as if fetched from `https://example.org/section/page.html`.
fn web(html: &str) -> Extracted {
    web_at("https://example.org/section/page.html", html)
}

fn web_at(url: &str, html: &str) -> Extracted {
    let request =
        ExtractRequest { kind: FileKind::Html, name: "page.html".into(), base_url: Some(url.into()), charset: None };
    extract(&request, html.as_bytes()).expect("a page")
}

/// Returns the page's markdown. Asserts that it has every text of `kept`, and neither `dropped` nor boilerplate of
/// [`site`].
fn reads(html: &str, kept: &[&str], dropped: &[&str]) -> String {
    let markdown = web(html).markdown;
    for kept in kept {
        assert!(markdown.contains(kept), "`{kept}` is missing in\n{markdown}");
    }
    for dropped in dropped.iter().chain(&["not text", "Privacy policy", "All rights reserved", "About us"]) {
        assert!(!markdown.contains(dropped), "`{dropped}` is in\n{markdown}");
    }
    markdown
}
