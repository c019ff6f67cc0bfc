//! Hostile files: each must give text or an error with bounded work.
//!
//! Work is measured as CPU time of the process, which hardly depends on the load of the machine. `cargo nextest` runs each
//! test in its own process.

use std::time::Duration;

use extract::{ExtractErrorKind, ExtractRequest, FileKind, extract};

use rustix::time::{ClockId, clock_gettime};

use crate::documents::read;
use crate::files::{RTF, archive, docx, opendocument, paragraph, pdf, xlsx};

/// Limit on the CPU time of one read in a debug build; a successful attack would take minutes or gigabytes.
const CPU_LIMIT: Duration = Duration::from_secs(60);

/// Returns the CPU time that the process has used, including the threads of readers.
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(u64::try_from(time.tv_sec).expect("positive"), u32::try_from(time.tv_nsec).expect("below 1e9"))
}

/// Runs `read` and returns its result and CPU time.
fn measure<T>(read: impl FnOnce() -> T) -> (T, Duration) {
    let start = cpu_time();
    let result = read();
    (result, cpu_time() - start)
}

fn within_limit<T>(what: &str, read: impl FnOnce() -> T) -> T {
    let (result, time) = measure(read);
    assert!(time < CPU_LIMIT, "{what} took {time:?}");
    result
}

#[test]
fn deeply_nested_pages_are_read_flat() {
    let deep = format!("<html><body>{}the core{}</body></html>", "<div>".repeat(60_000), "</div>".repeat(60_000));
    let text = within_limit("nested div", || read("deep.html", deep.as_bytes())).expect("a page");
    assert_eq!(text.markdown.trim(), "the core");
    let deep = format!("<ul>{}", "<li><ul>".repeat(30_000));
    within_limit("nested lists", || read("deep.html", deep.as_bytes())).expect("a page");
}

/// Size in bytes of the smaller page of a pair.
const SMALL: usize = 8 << 10;
/// Ratio of the sizes of a pair. Linear work grows by this factor, quadratic work by its square, 64.
const GROWTH: u32 = 8;

/// Hostile markup of about the given number of bytes.
type Markup = Box<dyn Fn(usize) -> String>;

/// Returns `unit`, repeated.
fn repeated(unit: &'static str) -> Markup {
    Box::new(move |bytes| unit.repeat(bytes / unit.len()))
}

/// Returns `unit`, repeated, between `before` and `after`.
fn enclosed(before: &'static str, unit: &'static str, after: &'static str) -> Markup {
    Box::new(move |bytes| format!("{before}{}{after}", unit.repeat(bytes / unit.len())))
}

/// Returns `unit`, repeated, in elements of the given number.
fn nested(depth: usize, element: &'static str, unit: &'static str) -> Markup {
    Box::new(move |bytes| element.repeat(depth) + &unit.repeat(bytes / unit.len()))
}

/// Returns a start tag with a long attribute, and as many bytes of `unit`, repeated.
fn halves(start: &'static str, value: &'static str, end: &'static str, unit: &'static str) -> Markup {
    Box::new(move |bytes| {
        let repeated = |part: &str| part.repeat(bytes / 2 / part.len());
        format!("{start}{}{end}{}", repeated(value), repeated(unit))
    })
}

fn attributes() -> Markup {
    Box::new(|bytes| {
        let attributes: String = (0..bytes / 24).map(|n| format!(" a{n}='{n}'")).collect();
        format!("<p{attributes}>words</p>").repeat(2)
    })
}

/// Reads a page and returns the CPU time. Asserts that the output is not much larger than the page.
fn read_page(what: &str, page: &str, base_url: Option<&str>) -> Duration {
    let base_url = base_url.map(str::to_owned);
    let request = ExtractRequest { kind: FileKind::Html, name: "a.html".into(), base_url, charset: None };
    let (result, time) = measure(|| extract(&request, page.as_bytes()));
    match result {
        Ok(read) => assert!(read.markdown.len() <= page.len() * 8 + (2 << 20), "{what}: {}", read.markdown.len()),
        Err(error) => assert_eq!(error.kind, ExtractErrorKind::WrongType, "{what}: {}", error.message),
    }
    time
}

/// Markup that breaks parsers or multiplies their output is read in about linear time.
#[test]
fn hostile_pages_take_linear_time() {
    let cases = [
        ("tags", repeated("<b>")),
        ("unclosed blocks", repeated("<div><p>")),
        ("less-than signs", repeated("<")),
        ("entities", repeated("&lt;&amp;&#x41;&notanentity;&#99999999;&")),
        ("attributes", attributes()),
        ("one long attribute", enclosed("<a href='", "x", "'>words</a>")),
        ("unclosed everything", repeated("<p><b><i><a href=x><ul><li><table><tr><td><h1><pre>")),
        ("wrong nesting", repeated("<b><p></b></p><i><table></i><a><div></a>")),
        ("comments", repeated("<!-- <!-- --><!--")),
        ("unclosed scripts", repeated("<script><style><noscript><textarea><title>")),
        ("spans", enclosed("<table>", "<tr><td rowspan=65534 colspan=1000>cell</td></tr>", "</table>")),
        ("paragraphs", repeated("<p>a")),
        ("list items", repeated("<ul><li>x</ul>")),
        ("text in lists", enclosed("<ul>", "x<li>y</li>", "</ul>")),
        ("text in nested lists", nested(200, "<ul>x", "<b>y</b>")),
        ("line breaks", repeated("<br>")),
        ("classes", repeated("<p class='a b c d e f g h-i-j k_l'>x</p>")),
        ("styles", repeated("<p style='a:b;c:d;color:#fff;background:#fff'>x</p>")),
        ("style rules", enclosed("<style>", ".a{display:none}", "</style><p class=a>x</p>")),
        ("braces", enclosed("<style>", "@media{.a{", "</style>")),
        ("linked data", enclosed("<script type='application/ld+json'>", "[", "</script>x")),
        ("noscript", repeated("<noscript>")),
        ("closed noscripts", repeated("<noscript><p>text</noscript>")),
        ("headings", repeated("<h2><a href=x>a</a></h2>")),
        (
            "cells below spans",
            enclosed("<table><tr><td rowspan=0>a<td>b<td rowspan=0 colspan=1000>c", "<tr><td>d", "</table>"),
        ),
        ("nested formulas", nested(200, "<math><msup>", "<mi>x</mi>")),
        ("scripts of formulas", enclosed("<math><mmultiscripts>", "<mi>x</mi>", "</mmultiscripts></math>")),
        ("formulas", repeated("<math><annotation encoding=tex>x</annotation></math>")),
        ("phrases", repeated("<p>Read more: <a href=x>a</a><h3>Related</h3>")),
        ("phrases before code", enclosed("<p>words", "<p><b>Comments</b>", "<pre>x</pre>")),
        ("nested phrases", repeated("<div><h3>Comments</h3><div>")),
        ("empty elements", enclosed("<h1>x</h1>", "<h2></h2><ul></ul>", "<p>words")),
        ("captions", enclosed("<figure>", "<img src=x><figcaption>c</figcaption>", "</figure>")),
        ("nested captions", nested(200, "<figure><figcaption>c</figcaption>", "<img src=x>")),
        ("loose captions", repeated("<figcaption>c</figcaption><img src=x>")),
        ("introductions", enclosed("<h1>x</h1>", "<div class=intro><p>An introduction of some words.", "<p>words")),
        ("teasers", repeated("<div class=teaser><p>x</div>")),
        ("marked parts", repeated("<div class='promo card'><h3>x</h3></div>")),
        ("nested marked parts", nested(200, "<div class=promo><h3>", "<p class=author>x")),
        ("facts", halves("<main><div><p>", "a sentence ", "</div>", "<div class=a><h2>x</h2><ul><li>y</ul></div>")),
        ("equal parts", repeated("<div class='plan popular'>x</div>")),
        ("ingredients", enclosed("<ul>", "<li itemprop=recipeIngredient>x", "</ul>")),
        ("loose ingredients", repeated("<div class=ingredient>x</div>")),
        ("forms", repeated("<form><input>x</form>")),
        ("contents", repeated("<ul><li><a href='#a'>a</a>")),
        ("panels", repeated("<button aria-controls=a>x</button><p id=a hidden>words")),
        ("nested panels", nested(200, "<div hidden id=a role=tabpanel>", "<a href='#a'>x</a> words")),
        ("NUL", repeated("<p>\0")),
        ("end tags of nothing", repeated("<div></b>")),
        ("depth behind a comment", enclosed("<!-- --!>", "<div>", "")),
        ("depth behind a title", enclosed("<title><script></title>", "<div>", "")),
        ("attributes of the root", repeated("<html a=1><html b=1>")),
        ("paragraphs in quotations", nested(400, "<blockquote>", "<p>x")),
        ("paragraphs in lists", nested(200, "<ul><li>", "<p>x")),
        (
            "bodies of articles",
            repeated("<div class=article-body><p>A sentence of some forty letters, and more.</div>"),
        ),
        ("selectors", enclosed("<style>", ".a,", ".b{display:none}</style><p>x")),
        ("sizes", nested(400, "<div style='font-size:0'>", "<p style='font-size:1em'>x")),
        ("sizes in and out", repeated("<i style='font-size:0'>x<b style='font-size:9px'>y</b></i>")),
        (
            "rules with sizes",
            enclosed("<style>.a{font-size:0}", "p b > i, x{font-size:9px}", "</style><p>x<p class=a><b><i>y"),
        ),
        ("buttons", repeated("<h2><button>x</button></h2>")),
        ("buttons in one heading", enclosed("<h2>", "<button>x</button>", "</h2>")),
        ("nested headings with buttons", nested(200, "<summary><div>", "<button></button>")),
        ("exponents", repeated("10<sup>6</sup>")),
        ("code", repeated("<code>`</code>")),
        ("code and text", repeated("<code>a`</code>b")),
        ("nested exponents", nested(200, "1<sup>", "1<sub>2</sub>")),
        ("colours below a long style", halves("<div style='", "a:b;", "'>", "<p style='color:#fff'>x")),
        (
            "hidden below many classes",
            halves("<div class='", "ad b ", "'>", "<p style='display:none'>Words that no one sees"),
        ),
    ];
    let web = Some("https://example.org/");
    for (what, markup) in cases {
        let (small, large) = (markup(SMALL), markup(SMALL * GROWTH as usize));
        read_page(what, &small, None);
        // Twice the linear growth and 100 ms of slack cover caches and noise; three attempts cover the rest.
        let mut attempts = (0..3).map(|_| (read_page(what, &small, web), read_page(what, &large, web)));
        let is_linear =
            |(small, large): &(Duration, Duration)| *large <= *small * GROWTH * 2 + Duration::from_millis(100);
        assert!(attempts.any(|times| is_linear(&times)), "{what}: more than linear time");
    }
}

/// Formatting that is never closed is repeated in every paragraph behind it, and nested captions were read twice.
#[test]
fn pages_that_multiply_work_are_bounded() {
    let open: String = (0..390).map(|n| format!("<b class=c{n}>")).collect();
    let page = format!("<p>{open}{}", "<p>x".repeat(20_000));
    within_limit("formatting", || read("bold.html", page.as_bytes())).expect("a page");
    let body = "<div></b>".repeat(50_000);
    let page = format!(r#"<script type="application/ld+json">{{"@type":"Article","articleBody":"{body}"}}</script>"#);
    within_limit("body in structured data", || read("data.html", page.as_bytes())).expect("a page");
    let page = "<table><caption>".repeat(60) + "core";
    let text = within_limit("captions", || read("captions.html", page.as_bytes())).expect("a page");
    assert_eq!(text.markdown.trim(), "core");
}

#[test]
fn zip_bomb_is_rejected() {
    let bomb = docx(&paragraph(None, &" ".repeat(200 << 20)));
    assert!(bomb.len() < 1 << 20);
    within_limit("zip bomb", || read("bomb.docx", &bomb)).expect_err("a bomb");
}

#[test]
fn open_document_bombs_are_rejected() {
    // Above the limit of 128 MiB for a part.
    let wide = opendocument("text", "", &" ".repeat(132 << 20));
    let error = within_limit("zip bomb", || read("bomb.odt", &wide)).expect_err("a bomb");
    assert_eq!(error.kind, ExtractErrorKind::TooLarge);
    let deep = opendocument("text", "", &"<text:section>".repeat(100_000));
    within_limit("nested sections", || read("deep.odt", &deep)).expect_err("too deep");
    let spans = format!("<text:p>{}core", "<text:span>".repeat(1_900));
    let _ = within_limit("nested spans", || read("deep.odt", &opendocument("text", "", &spans)));
    let cell = r#"<table:table-cell table:number-columns-repeated="1000000"><text:p>x</text:p></table:table-cell>"#;
    let row = format!(r#"<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-row>"#);
    let sheet = format!("<table:table>{}</table:table>", row.repeat(50));
    let read =
        within_limit("repeated cells", || read("wide.ods", &opendocument("spreadsheet", "", &sheet))).expect("a sheet");
    assert!(read.markdown.len() < 64 << 20);
}

#[test]
fn entities_of_an_open_document_are_not_expanded() {
    let content = r#"<!DOCTYPE d [<!ENTITY a "lollollol"><!ENTITY b "&a;&a;&a;&a;">]><office:document-content><office:body><office:text><text:p>x&b;&#65;y</text:p></office:text></office:body></office:document-content>"#;
    let bomb = archive(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", content)]);
    assert_eq!(read("e.odt", &bomb).expect("a document").markdown, "xAy\n");
}

#[test]
fn xml_entities_are_not_expanded() {
    let mut entities = String::from("<!ENTITY a0 \"lol lol lol lol lol\">");
    for n in 1..12 {
        let previous = format!("&a{};", n - 1).repeat(10);
        entities.push_str(&format!("<!ENTITY a{n} \"{previous}\">"));
    }
    let document = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE w:document [{entities}]><w:document xmlns:w=\"http://schemas.openxmlformats.org/wordprocessingml/2006/main\"><w:body><w:p><w:r><w:t>&a11;</w:t></w:r></w:p></w:body></w:document>"
    );
    let bomb = archive(&[("[Content_Types].xml", "<Types/>"), ("word/document.xml", &document)]);
    let result = within_limit("entities", || read("bomb.docx", &bomb));
    assert!(result.map_or(0, |read| read.markdown.len()) < 100_000);
}

#[test]
fn deeply_nested_tables_terminate() {
    let depth = 3_000;
    let body = format!(
        "{}{}{}",
        "<w:tbl><w:tr><w:tc>".repeat(depth),
        paragraph(None, "core"),
        "</w:tc></w:tr></w:tbl>".repeat(depth)
    );
    let _ = within_limit("nested tables", || read("deep.docx", &docx(&body)));
}

/// A file truncated or corrupted at any offset is read or rejected, without a panic or an endless loop.
#[test]
fn truncated_and_corrupted_files_terminate() {
    let page = "<html><body><p>Some words</p><table><tr><td>a</td></tr></table></body></html>".repeat(20);
    let samples: Vec<(FileKind, Vec<u8>)> = vec![
        (FileKind::Docx, docx(&paragraph(Some("Heading1"), "Title"))),
        (FileKind::Pdf, pdf(&["Some text here.", "More of it."])),
        (FileKind::Html, page.into_bytes()),
        (FileKind::Rtf, RTF.to_vec()),
        (FileKind::Xlsx, xlsx(&[("A", &[&["a", "b"], &["1", "2"]])])),
        (
            FileKind::Odt,
            opendocument(
                "text",
                "",
                "<text:h>H</text:h><text:list><text:list-item><text:p>x</text:p></text:list-item></text:list>",
            ),
        ),
        (
            FileKind::Ods,
            opendocument(
                "spreadsheet",
                "",
                "<table:table><table:table-row><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>",
            ),
        ),
        (FileKind::Csv, b"a,b\n\"x\ny\",2\n".repeat(50)),
        (FileKind::Md, b"---\ntitle: x\n---\n# T\n\n```\ncode\n".to_vec()),
    ];
    // xorshift: the same corruptions in every run.
    let mut state = 0x9e37_79b9_7f4a_7c15u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below as u64) as usize
    };
    for (kind, sample) in samples {
        let name = format!("sample.{}", kind.as_str());
        for round in 0..24 {
            let mut bytes = sample.clone();
            if round % 2 == 0 {
                bytes.truncate(random(sample.len()));
            }
            for _ in 0..random(12) {
                if !bytes.is_empty() {
                    let at = random(bytes.len());
                    bytes[at] = random(256) as u8;
                }
            }
            if let Err(error) = within_limit(&name, || read(&name, &bytes)) {
                assert!(!error.message.is_empty());
            }
        }
    }
}
