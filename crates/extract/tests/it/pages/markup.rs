//! Single elements: links, images, code, tables, and elements without text.

use extract::{ExtractRequest, FileKind, extract};

use super::{prose, reads, site, web_at};

fn page(inner: &str) -> String {
    site("Things", &format!("<main><h1>Things</h1>{}{inner}{}</main>", prose("things"), prose("the rest")))
}

#[test]
fn links_become_absolute_or_text() {
    for (link, expected) in [
        ("<a href='detail.html'>more</a>", "See [more](https://example.org/section/detail.html) here."),
        ("<a href='/top'>more</a>", "See [more](https://example.org/top) here."),
        ("<a href='//cdn.example/x'>more</a>", "See [more](https://cdn.example/x) here."),
        ("<a href='?q=a b'>more</a>", "See [more](https://example.org/section/page.html?q=a%20b) here."),
        ("<a href='javascript:alert(1)'>more</a>", "See more here."),
        ("<a href=' JAVASCRIPT:x'>more</a>", "See more here."),
        ("<a href='data:text/html,x'>more</a>", "See more here."),
        ("<a href='#below'>more</a>", "See more here."),
        ("<a name='x'>more</a>", "See more here."),
        ("<a href='mailto:a@b.example'>more</a>", "See [more](mailto:a@b.example) here."),
        ("<a href='/wiki/A_(b)'>more</a>", "See [more](https://example.org/wiki/A_%28b%29) here."),
        ("<a href='x'>[1]</a>", "See [[1]](https://example.org/section/x) here."),
        ("<a href='x'></a>nothing", "See nothing here."),
    ] {
        reads(&page(&format!("<p>See {link} here.</p>")), &[expected], &[]);
    }
    let based = page("<p>See <a href='a.html'>more</a>.</p>").replace("</head>", "<base href='/docs/v2/'></head>");
    let read = web_at("https://example.org/x/y.html", &based).markdown;
    assert!(read.contains("[more](https://example.org/docs/v2/a.html)"), "{read}");
}

#[test]
fn links_of_short_pages_become_absolute_or_text() {
    let short = "<h1>Docs</h1><nav><a href='guide.html'>Guide</a> <a href='javascript:go()'>Go</a></nav>\
                 <img src='data:image/gif;base64,R0' data-src='/b.png' alt='A cat'>";
    let read = web_at("https://example.org/section/page.html", short).markdown;
    assert_eq!(
        read,
        "# Docs\n\n[Guide](https://example.org/section/guide.html) Go\n\n![A cat](https://example.org/b.png)\n"
    );
    let body = "<p>See <a href='detail.html'>more</a> and <a href='javascript:x'>this</a>.</p>".repeat(5);
    let data = format!(
        "<script type='application/ld+json'>{{\"@type\":\"Article\",\"articleBody\":\"{body}\"}}</script><div>Loading</div>"
    );
    let read = web_at("https://example.org/section/page.html", &data).markdown;
    assert!(read.contains("See [more](https://example.org/section/detail.html) and this."), "{read}");
    assert!(!read.contains("javascript"), "{read}");
}

#[test]
fn images_become_alternative_text() {
    for (picture, expected) in [
        ("<img src='a.png' alt='A cat'>", "![A cat](https://example.org/section/a.png)"),
        ("<img src='data:image/gif;base64,R0' data-src='/b.png' alt='A cat'>", "![A cat](https://example.org/b.png)"),
        ("<img data-lazy-src='c.png' alt='A cat'>", "![A cat](https://example.org/section/c.png)"),
        ("<img srcset='d.png 1x, e.png 2x' alt='A cat'>", "![A cat](https://example.org/section/d.png)"),
        ("<img alt='A cat'>", "A cat"),
        ("<img src='f.png' alt='A ]cat['>", "![A \\]cat\\[](https://example.org/section/f.png)"),
    ] {
        reads(&page(&format!("<p>Here: {picture} it is.</p>")), &[&format!("Here: {expected} it is.")], &[]);
    }
    let twice = "<p>Here.<img src='data:image/gif;base64,R0' data-src='/b.png' alt='A cat'><noscript><img src='/b.png' alt='A cat'></noscript></p>";
    assert_eq!(reads(&page(twice), &[], &[]).matches("A cat").count(), 1);
    reads(&page("<p>Here.<img src='/pixel.gif'></p>"), &["Here."], &["pixel.gif"]);
}

#[test]
fn headings_drop_anchor_signs() {
    for heading in [
        "<h2 id='s'>Section<a class='headerlink' href='#s'>¶</a></h2>",
        "<h2 id='s'><a class='anchor' href='#s'>#</a>Section</h2>",
        "<h2 id='s'><a href='#s'>Section</a></h2>",
        "<h2 id='s'><a class='anchor' aria-hidden='true' href='https://example.org/section/page.html#s'>#</a>Section</h2>",
        "<h2>Section <a href='#s' aria-label='Permalink'>\u{200b}</a></h2>",
        "<h2>Section <button>Copy link</button></h2>",
        "<h2><span></span>Section<svg><title>Link</title></svg></h2>",
    ] {
        let markdown = reads(&page(&format!("{heading}{}", prose("sections"))), &["\n## Section\n"], &[]);
        assert!(!markdown.contains('¶'), "{markdown}");
    }
}

#[test]
fn buttons_with_the_text_of_a_heading_are_headings() {
    let entry = |question: &str, answer: &str| {
        format!(
            "<div class='accordion-item'><h2 class='accordion-header'><button class='accordion-button collapsed' type='button'>{question} <svg><title>Open</title></svg><span aria-hidden='true'>+</span></button></h2>\
             <div class='accordion-collapse collapse'><div class='accordion-body'>{answer}</div></div></div>"
        )
    };
    let faq = [
        entry("How do I reset it?", "Hold the key until the lamp is red, and let go of it."),
        entry("How long does it last?", "Ten years, if it is not left in the rain."),
    ]
    .concat();
    let kept = ["## How do I reset it? +\n\nHold the key", "## How long does it last? +\n\nTen years"];
    reads(&page(&format!("<div class='accordion'>{faq}</div>")), &kept, &["Open"]);
    // A page that is rendered whole, and a file.
    let short = "<h3><button>How do I reset it?</button></h3><div>Hold it.</div>\
                 <details><summary><button>Why?</button></summary>So.</details><dl><dt><button>Key</button></dt><dd>Red.</dd></dl>\
                 <h3>Keys <button>Copy</button></h3><h3><button>One</button><button>Two</button></h3>";
    let expected = "### How do I reset it?\n\nHold it.\n\nWhy?\n\nSo.\n\n**Key**\n\nRed.\n\n### Keys\n";
    assert_eq!(web_at("https://example.org/", short).markdown, expected);
    let file = ExtractRequest::new(FileKind::Html, "faq.html");
    assert_eq!(extract(&file, short.as_bytes()).expect("a page").markdown, expected);
}

#[test]
fn embedded_elements_are_dropped() {
    reads(
        &page(
            "<iframe src='x'>Your browser knows no frames</iframe><video controls>No video</video><object>No object</object><canvas>No canvas</canvas><svg><text>drawn</text></svg><select><option>One</option></select><textarea>typed</textarea><template><p>Not yet</p></template>",
        ),
        &["about the rest"],
        &["no frames", "No video", "No object", "No canvas", "drawn", "One\n", "typed", "Not yet"],
    );
}

#[test]
fn shadow_roots_are_read() {
    let component = format!(
        "<x-doc><template shadowrootmode='open'>{}<slot name='end'></slot></template><p slot='end'>And so it ended, long after the others had gone.</p></x-doc>",
        prose("levees")
    );
    let markdown = reads(&page(&component), &["about levees,", "And so it ended"], &[]);
    assert!(markdown.find("about levees,") < markdown.find("And so it ended"), "{markdown}");
}

#[test]
fn footer_of_a_quotation_is_read() {
    let quotation = |footer: &str| format!("<blockquote><p>To be, or not to be.</p>{footer}</blockquote>");
    for footer in [
        "<footer>— Ann Author, <cite>Hamlet</cite></footer>",
        "<div><footer class='blockquote-footer'>— Ann Author, <cite>Hamlet</cite></footer></div>",
    ] {
        let expected = "> To be, or not to be.\n>\n> — Ann Author, *Hamlet*\n";
        reads(&page(&quotation(footer)), &[expected], &[]);
    }
    let embedded = quotation("<article><p>That is the question.</p><footer>Posted by Bob</footer></article>");
    reads(&page(&embedded), &["That is the question."], &["Posted by Bob"]);
    reads(&page("<article><p>A remark.</p><footer>Posted by Bob</footer></article>"), &["A remark."], &["Posted by"]);
}

#[test]
fn formulas_in_scripts_are_read() {
    let formulas = "<p>The mass <script type='math/tex'>m_0</script> gives energy:</p>\
                    <div><span class='MathJax_Preview'>[math]</span><div class='MathJax_Display'><span class='MathJax'>E=mc2</span></div>\
                    <script type='math/tex; mode=display'>E = m_0 c^2</script></div>";
    let markdown = reads(&page(formulas), &["The mass $m_0$ gives energy:\n\n$$E = m_0 c^2$$\n"], &["[math]", "E=mc2"]);
    assert_eq!(markdown.matches("c^2").count(), 1, "{markdown}");
    // At the end of an article, in a file, and on a page that is rendered whole.
    let last = format!(
        "<article>{}{}<script type='math/tex; mode=display'>b = c</script><p><script type='math/tex'>a</script></p></article>",
        prose("salt"),
        prose("rust")
    );
    reads(&site("Low Ford", &last), &["$$b = c$$\n\n$a$"], &[]);
    let short = "<p>Mass: <script type='math/tex'>m_0</script></p>";
    assert_eq!(web_at("https://example.org/", short).markdown, "Mass: $m_0$\n");
    let file = ExtractRequest::new(FileKind::Html, "mass.html");
    assert_eq!(extract(&file, short.as_bytes()).expect("a page").markdown, "Mass: $m_0$\n");
}

#[test]
fn noscript_text_is_read() {
    let text = prose("scripts").repeat(2);
    let only = format!(
        "<html><body><div id='app'></div><noscript>{text}</noscript><script src='app.js'></script></body></html>"
    );
    assert!(super::web(&only).markdown.contains("about scripts,"));
    let told = format!(
        "<html><head><script type='application/ld+json'>{{\"@type\":\"NewsArticle\",\"headline\":\"H\",\"articleBody\":\"First paragraph of the text, as long as a sentence is.\\nSecond paragraph of the text, and {} more.\"}}</script></head><body><div id='app'>Loading</div></body></html>",
        "much ".repeat(80)
    );
    let read = super::web(&told).markdown;
    assert!(read.contains("First paragraph of the text, as long as a sentence is.\n\nSecond paragraph"), "{read}");
}

#[test]
fn unclosed_noscript_does_not_swallow_the_page() {
    let page = site(
        "Low Ford",
        &format!("<noscript><div id='x'></noscript><main><h1>Low Ford</h1>{}{}</main>", prose("salt"), prose("rust")),
    );
    reads(&page, &["about salt,", "about rust,"], &[]);
}

#[test]
fn markdown_syntax_in_text_is_escaped() {
    reads(
        &page(
            "<p>2 * 3 * 4 and a_b_c and &lt;b&gt;not bold&lt;/b&gt; and `tick`.</p><p># not a heading</p><p>- not a list</p><p>1. not a list</p><p>| no | table |</p>",
        ),
        &[
            "2 * 3 * 4 and a_b_c and \\<b>not bold\\</b> and \\`tick\\`.",
            "\\# not a heading",
            "\\- not a list",
            "1. not a list",
            "\\| no | table |",
        ],
        &["\n# not", "\n- not"],
    );
}
