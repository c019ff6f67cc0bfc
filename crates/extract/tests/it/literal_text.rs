//! Text that looks like Markdown is text: the readable text of what was extracted is the text of the document.

use proptest::prelude::*;
use retrieval_core::phrase::Phrases;
use retrieval_core::quotes::{self, Comparison, Piece, Quote};
use retrieval_core::{outline, plain};

use crate::documents::read;
use crate::files::{docx, docx_with_footer, docx_with_notes, opendocument, paragraph, pdf, workbook, xlsx};

fn xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn markdown(name: &str, bytes: &[u8]) -> String {
    read(name, bytes).expect("a document").markdown
}

fn html(text: &str) -> String {
    markdown("a.html", format!("<html><body><p>{}</p></body></html>", xml(text)).as_bytes())
}

fn csv(text: &str) -> String {
    markdown("a.csv", format!("head,other\n\"{}\",x\n", text.replace('"', "\"\"")).as_bytes())
}

fn odt(text: &str) -> String {
    markdown("a.odt", &opendocument("text", "", &format!("<text:p>{}</text:p>", xml(text))))
}

fn rtf(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('{', "\\{").replace('}', "\\}");
    markdown("a.rtf", format!("{{\\rtf1\\ansi {text}\\par}}").as_bytes())
}

/// Builds a run of a Word document.
fn run(text: &str) -> String {
    format!(r#"<w:r><w:t xml:space="preserve">{}</w:t></w:r>"#, xml(text))
}

fn bold_run(text: &str) -> String {
    format!(r#"<w:r><w:rPr><w:b/></w:rPr><w:t xml:space="preserve">{}</w:t></w:r>"#, xml(text))
}

fn word_paragraph(text: &str) -> String {
    format!("<w:p>{}</w:p>", run(text))
}

fn of_docx(text: &str) -> String {
    markdown("a.docx", &docx(&word_paragraph(text)))
}

fn of_pdf(text: &str) -> String {
    let text = text.replace('\\', "\\\\").replace('(', "\\(").replace(')', "\\)");
    markdown("a.pdf", &pdf(&[&format!("{text}\nThe end of the page.")]))
}

/// Returns the readable text without the differences in white space.
fn words(markdown: &str) -> String {
    plain::from_markdown(markdown).split_whitespace().collect::<Vec<_>>().join(" ")
}

const EXAMPLES: [&str; 12] = [
    "The <table> element",
    "10*20*30",
    "\\d+\\.\\d and \\(x\\)",
    "__init__ and snake_case",
    "&lt; stays",
    "a ~~b~~ c",
    "`x` and [a](b) and ![c](d) and [^1]",
    "C:\\ and \\\\server\\_x",
    "<!-- no comment --> <a@b.c>",
    "| no | table |",
    "[a]: b",
    "+ no item",
];

#[test]
fn examples_are_read_as_they_are() {
    for text in EXAMPLES {
        assert_eq!(words(&html(text)), text);
        assert_eq!(words(&odt(text)), text);
        assert_eq!(words(&rtf(text)), text);
        assert_eq!(words(&csv(text)), format!("head other {text} x"));
        // `pdf_oxide` takes a backtick before a letter for its accent.
        if !text.contains('`') {
            assert_eq!(words(&of_pdf(text)), format!("{text} The end of the page."));
        }
    }
}

#[test]
fn office_files_are_read_as_they_are() {
    for text in EXAMPLES {
        assert_eq!(words(&of_docx(text)), text);
    }
    let lines = ["# no heading", "- no item", "1. no item", "> no quote", "---", "===", "Title", "---"];
    let paragraphs: String = lines.iter().map(|line| word_paragraph(line)).collect();
    assert_eq!(words(&markdown("a.docx", &docx(&paragraphs))), lines.join(" "));
}

/// White space at the start of a paragraph makes no code of it, and none of its emphasis text.
#[test]
fn office_paragraphs_begin_with_their_text() {
    let tab = "<w:r><w:tab/></w:r>".to_owned();
    for (runs, expected) in [
        (bold_run(" Note:") + &run(" text behind"), "**Note:** text behind"),
        (
            tab + &run("The price of ") + &bold_run("bolts") + &run(" is 5* per <piece>, see [1]"),
            "The price of **bolts** is 5\\* per \\<piece\\>, see \\[1\\]",
        ),
        (run(" ") + &run("# 5 apples"), "\\# 5 apples"),
        (run("    four spaces"), "four spaces"),
        (run("a") + "<w:r><w:br/></w:r>" + &run("\t") + &bold_run(" b"), "a\n**b**"),
    ] {
        assert_eq!(markdown("a.docx", &docx(&format!("<w:p>{runs}</w:p>"))), format!("{expected}\n"));
    }
}

#[test]
fn office_text_beside_notes_and_links_is_kept() {
    let note = r#"<w:r><w:footnoteReference w:id="2"/></w:r>"#;
    let footnote = format!(r#"<w:footnote w:id="2">{}</w:footnote>"#, word_paragraph("First."));
    for (before, after) in [("Word", "(see page 5)"), ("", ": a sentence")] {
        let body = format!("<w:p>{}{note}{}</w:p>", run(before), run(after));
        let markdown = markdown("a.docx", &docx_with_notes(&body, &footnote, ""));
        assert_eq!(markdown, format!("{before}[^1]\\{after}\n\n[^1]: First.\n"));
        assert_eq!(words(&markdown), format!("{before}[^1]{after} [^1]: First."));
    }
    let link = format!(r#"<w:hyperlink w:anchor="a">{}</w:hyperlink>"#, run("the link"));
    let body = format!("<w:p>{}{link}{}</w:p>", run("Wow!"), run("(aside)"));
    assert_eq!(words(&markdown("a.docx", &docx(&body))), "Wow!the link(aside)");
}

#[test]
fn all_parts_of_office_files_are_read_as_they_are() {
    let rows: [&[&str]; 5] = [&["A sentence of some length."], &["# 5 apples"], &["+ 3 items"], &["---"], &["a\n# b"]];
    assert_eq!(
        markdown("notes.xlsx", &xlsx(&[("Sheet1", &rows)])),
        "A sentence of some length.\n\n\\# 5 apples\n\n\\+ 3 items\n\n\\---\n\na\n\\# b\n"
    );
    let sheet = r#"<sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>a</t></is></c></row></sheetData><headerFooter><oddHeader>&amp;C# Top</oddHeader></headerFooter>"#;
    assert_eq!(
        markdown("a.xlsx", &workbook(&[("Order #", sheet.to_owned())], "")),
        "## Sheet: Order \\#\n\n\\# Top\n\n| a |\n| --- |\n"
    );
    let file = docx_with_footer(&word_paragraph("Text."), &word_paragraph("# footer"));
    assert_eq!(markdown("a.docx", &file), "Text.\n\n\\# footer\n");
    let list = r#"<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr>"#;
    let item = format!("<w:p>{list}{}<w:r><w:br/></w:r>{}</w:p>", run("item"), run("# of parts"));
    assert_eq!(markdown("a.docx", &docx(&item)), "- item\n\\# of parts\n");
}

#[test]
fn headings_are_read_as_they_are() {
    for text in ["The <table> element", "__init__", "<T> and 10*20*30", "C #", "- x"] {
        let page = format!("<html><body><h1>{}</h1><p>Text.</p></body></html>", xml(text));
        let file = opendocument("text", "", &format!("<text:h>{}</text:h>", xml(text)));
        let word = docx(&paragraph(Some("Heading1"), &xml(text)));
        for markdown in [markdown("a.html", page.as_bytes()), markdown("a.odt", &file), markdown("a.docx", &word)] {
            assert_eq!(outline::title(&markdown).as_deref(), Some(text), "{markdown}");
        }
    }
}

#[test]
fn code_is_read_as_it_is() {
    for (code, text) in [
        ("<code>std::</code><code>vector</code>", "std::vector"),
        ("<code>a``b</code>", "a``b"),
        ("<code>`</code>", "`"),
        ("<code>a```b</code><code>c`</code>", "a```bc`"),
        ("<code>npm install<br>npm start</code>", "npm install npm start"),
    ] {
        let page = format!("<html><body><p>{code} is code.</p><p>So is {code}.</p></body></html>");
        assert_eq!(words(&markdown("a.html", page.as_bytes())), format!("{text} is code. So is {text}."));
    }
}

#[test]
fn phrases_and_quotes_are_found() {
    let text = "Set snake_case to 10*20 in the <table> element, or to 2*3*4.";
    let compare = |quote: &str, markdown: &str| {
        let piece = Piece { text: markdown.to_owned(), char_start: 0 };
        quotes::compare(&Quote { text: quote, start: None, end: None }, &[piece])
    };
    for markdown in [html(text), csv(text), odt(text), rtf(text), of_pdf(text)] {
        for quote in ["snake_case", "10*20", "<table>", "the <table> element", text] {
            assert!(Phrases::new([quote]).any_in(&markdown, Some("en")), "{quote} in {markdown}");
            assert!(matches!(compare(quote, &markdown), Comparison::Exact(_)), "{quote} in {markdown}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn readable_text_is_the_text(text in "[-a1 *_~`\\\\<>&;#|!=+:.()\\[\\]^@/$\"]{0,24}") {
        let text = format!("x{text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert_eq!(words(&html(&text)), text.clone());
        prop_assert_eq!(words(&odt(&text)), text.clone());
        prop_assert_eq!(words(&rtf(&text)), text.clone());
        prop_assert_eq!(words(&of_docx(&text)), text.clone());
        prop_assert_eq!(words(&csv(&text)), format!("head other {text} x"));
    }

    /// Marks at the start of a line, and in the lines of a paragraph.
    #[test]
    fn lines_are_read_as_they_are(lines in prop::collection::vec("[-a1 *_~`<>#|!=+:.\\[\\]()]{1,8}", 1..4)) {
        let lines: Vec<String> =
            lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty()).collect();
        prop_assume!(!lines.is_empty());
        let source = lines.iter().map(|line| xml(line)).collect::<Vec<_>>();
        let page = format!("<html><body><p>{}</p></body></html>", source.join("<br>"));
        prop_assert_eq!(words(&markdown("a.html", page.as_bytes())), lines.join(" "));
        let file = opendocument("text", "", &format!("<text:p>{}</text:p>", source.join("<text:line-break/>")));
        prop_assert_eq!(words(&markdown("a.odt", &file)), lines.join(" "));
    }

    /// Text beside and inside code.
    #[test]
    fn text_around_code_is_the_text(parts in prop::collection::vec((any::<bool>(), "[a1 `*_\\\\]{0,6}"), 1..6)) {
        let text: String = parts.iter().map(|(_, text)| text.as_str()).collect();
        let text = format!("x{text}").split_whitespace().collect::<Vec<_>>().join(" ");
        let page: String = parts
            .iter()
            .map(|(is_code, text)| if *is_code { format!("<code>{text}</code>") } else { text.clone() })
            .collect();
        prop_assert_eq!(words(&markdown("a.html", format!("<html><body><p>x{page}</p></body></html>").as_bytes())), text);
    }

    /// Text beside and inside emphasis and links.
    #[test]
    fn text_around_marks_is_the_text(parts in prop::collection::vec((0..4u8, "[a1 *_~\\\\<&;!()\\[\\]^]{0,6}"), 1..6)) {
        let text: String = parts.iter().map(|(_, text)| format!("{text}x")).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let page: String = parts.iter().map(|(kind, text)| {
            let text = format!("{}x", xml(text));
            match kind {
                0 => format!("<b>{text}</b>"),
                1 => format!("<i>{text}</i>"),
                2 => format!("<a href='http://a.b/c'>{text}</a>"),
                _ => text,
            }
        }).collect();
        let styles = r#"<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>"#;
        let body: String = parts.iter().map(|(kind, text)| {
            let text = format!("{}x", xml(text));
            match kind {
                0 | 1 => format!(r#"<text:span text:style-name="B">{text}</text:span>"#),
                2 => format!(r#"<text:a xlink:href="http://a.b/c">{text}</text:a>"#),
                _ => text,
            }
        }).collect();
        prop_assert_eq!(words(&markdown("a.html", format!("<html><body><p>{page}</p></body></html>").as_bytes())), text.clone());
        prop_assert_eq!(words(&markdown("a.odt", &opendocument("text", styles, &format!("<text:p>{body}</text:p>")))), text);
    }
}
