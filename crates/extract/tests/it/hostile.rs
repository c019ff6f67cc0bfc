//! Hostile files: each must give text or an error within a time limit.

use std::time::{Duration, Instant};

use extract::{ExtractErrorKind, ExtractRequest, FileKind, extract};

use crate::documents::read;
use crate::files::{RTF, archive, docx, opendocument, paragraph, pdf, xlsx};

/// Time limit for debug builds on a loaded machine; a successful attack would take minutes or gigabytes.
const TIME_LIMIT: Duration = Duration::from_secs(60);

fn within_time<T>(what: &str, read: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let result = read();
    assert!(start.elapsed() < TIME_LIMIT, "{what} took {:?}", start.elapsed());
    result
}

#[test]
fn deeply_nested_pages_are_read_flat() {
    let deep = format!("<html><body>{}the core{}</body></html>", "<div>".repeat(60_000), "</div>".repeat(60_000));
    let text = within_time("nested div", || read("deep.html", deep.as_bytes())).expect("a page");
    assert_eq!(text.markdown.trim(), "the core");
    let deep = format!("<ul>{}", "<li><ul>".repeat(30_000));
    within_time("nested lists", || read("deep.html", deep.as_bytes())).expect("a page");
}

/// Markup that breaks parsers or multiplies their output.
#[test]
fn hostile_pages_are_bounded_in_time_and_size() {
    let many = |unit: &str, bytes: usize| unit.repeat(bytes / unit.len());
    let attributes: String = (0..100_000).map(|n| format!(" a{n}='{n}'")).collect();
    let rows = many("<tr><td rowspan=65534 colspan=1000>cell</td></tr>", 256 << 10);
    for (what, page) in [
        ("a million tags", many("<b>", 3_000_000)),
        ("a million unclosed blocks", many("<div><p>", 8_000_000)),
        ("ten megabytes of <", many("<", 10 << 20)),
        ("entities", many("&lt;&amp;&#x41;&notanentity;&#99999999;&", 2 << 20)),
        ("attributes", format!("<p{attributes}>words</p>").repeat(2)),
        ("one long attribute", format!("<a href='{}'>words</a>", many("x", 4 << 20))),
        ("unclosed everything", many("<p><b><i><a href=x><ul><li><table><tr><td><h1><pre>", 20_000)),
        ("wrong nesting", many("<b><p></b></p><i><table></i><a><div></a>", 40_000)),
        ("comments", many("<!-- <!-- --><!--", 256 << 10)),
        ("unclosed scripts", many("<script><style><noscript><textarea><title>", 1 << 20)),
        ("spans", format!("<table>{rows}</table>")),
        ("paragraphs", many("<p>a", 256 << 10)),
        ("list items", many("<ul><li>x</ul>", 256 << 10)),
        ("line breaks", many("<br>", 256 << 10)),
        ("classes", many("<p class='a b c d e f g h-i-j k_l'>x</p>", 256 << 10)),
        ("styles", many("<p style='a:b;c:d;color:#fff;background:#fff'>x</p>", 256 << 10)),
        ("style rules", format!("<style>{}</style><p class=a>x</p>", many(".a{display:none}", 1 << 20))),
        ("braces", format!("<style>{}</style>", many("@media{.a{", 1 << 20))),
        ("linked data", format!("<script type='application/ld+json'>{}</script>x", many("[", 1 << 20))),
        ("noscript", many("<noscript>", 2 << 20)),
        ("closed noscripts", many("<noscript><p>text</noscript>", 256 << 10)),
        ("headings", many("<h2><a href=x>a</a></h2>", 256 << 10)),
        ("formulas", many("<math><annotation encoding=tex>x</annotation></math>", 256 << 10)),
        ("NUL", many("<p>\0", 1 << 20)),
    ] {
        for base_url in [None, Some("https://example.org/".to_owned())] {
            let request = ExtractRequest { kind: FileKind::Html, name: "a.html".into(), base_url, charset: None };
            let result = within_time(what, || extract(&request, page.as_bytes()));
            match result {
                Ok(read) => {
                    assert!(read.markdown.len() <= page.len() * 8 + (2 << 20), "{what}: {}", read.markdown.len())
                }
                Err(error) => assert_eq!(error.kind, ExtractErrorKind::WrongType, "{what}: {}", error.message),
            }
        }
    }
}

#[test]
fn zip_bomb_is_rejected() {
    let bomb = docx(&paragraph(None, &" ".repeat(200 << 20)));
    assert!(bomb.len() < 1 << 20);
    within_time("zip bomb", || read("bomb.docx", &bomb)).expect_err("a bomb");
}

#[test]
fn open_document_bombs_are_rejected() {
    let wide = opendocument("text", "", &" ".repeat(200 << 20));
    let error = within_time("zip bomb", || read("bomb.odt", &wide)).expect_err("a bomb");
    assert_eq!(error.kind, ExtractErrorKind::TooLarge);
    let deep = opendocument("text", "", &"<text:section>".repeat(100_000));
    within_time("nested sections", || read("deep.odt", &deep)).expect_err("too deep");
    let spans = format!("<text:p>{}core", "<text:span>".repeat(1_900));
    let _ = within_time("nested spans", || read("deep.odt", &opendocument("text", "", &spans)));
    let cell = r#"<table:table-cell table:number-columns-repeated="1000000"><text:p>x</text:p></table:table-cell>"#;
    let row = format!(r#"<table:table-row table:number-rows-repeated="1000000">{cell}</table:table-row>"#);
    let sheet = format!("<table:table>{}</table:table>", row.repeat(50));
    let read =
        within_time("repeated cells", || read("wide.ods", &opendocument("spreadsheet", "", &sheet))).expect("a sheet");
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
    let result = within_time("entities", || read("bomb.docx", &bomb));
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
    let _ = within_time("nested tables", || read("deep.docx", &docx(&body)));
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
            if let Err(error) = within_time(&name, || read(&name, &bytes)) {
                assert!(!error.message.is_empty());
            }
        }
    }
}
