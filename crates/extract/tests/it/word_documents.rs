//! Numbers of headings, what stands in list items, formulas and phonetic guides in Word documents.

use crate::documents::read;
use crate::files::{docx, docx_with_notes, docx_with_numbering, docx_with_properties, paragraph};

/// Headings with the numbering 1 on their level, as a multilevel list that is linked to them.
const STYLES: &str = r#"<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="0"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:numPr><w:ilvl w:val="1"/><w:numId w:val="1"/></w:numPr><w:outlineLvl w:val="1"/></w:pPr></w:style>"#;

/// Styles of titles: in bold, and based on the former.
const TITLES: &str = r#"<w:style w:type="paragraph" w:styleId="a3"><w:name w:val="Title"/><w:rPr><w:b/></w:rPr></w:style><w:style w:type="paragraph" w:styleId="a4"><w:name w:val="Cover"/><w:basedOn w:val="a3"/></w:style>"#;

/// Builds a numbering from the levels of the only definition. Its second instance begins at 9.
fn numbering(levels: &[(&str, &str, &str)]) -> String {
    let level = |(level, (format, pattern, more)): (usize, &(&str, &str, &str))| {
        format!(
            r#"<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="{format}"/>{more}<w:lvlText w:val="{pattern}"/></w:lvl>"#
        )
    };
    let levels: String = levels.iter().enumerate().map(level).collect();
    format!(
        r#"<w:abstractNum w:abstractNumId="0">{levels}</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="0"/><w:lvlOverride w:ilvl="0"><w:startOverride w:val="9"/></w:lvlOverride></w:num>"#
    )
}

/// Builds a paragraph with a style, a level and a numbering of its own.
fn numbered(style: &str, level: u8, numbering: u32, content: &str) -> String {
    format!(
        r#"<w:p><w:pPr><w:pStyle w:val="{style}"/><w:numPr><w:ilvl w:val="{level}"/><w:numId w:val="{numbering}"/></w:numPr></w:pPr><w:r>{content}</w:r></w:p>"#
    )
}

fn markdown(body: &[String], styles: &str, levels: &[(&str, &str, &str)]) -> String {
    let file = docx_with_numbering(&body.concat(), styles, &numbering(levels));
    read("a.docx", &file).expect("a document").markdown
}

fn heading(level: u8, text: &str) -> String {
    paragraph(Some(&format!("Heading{level}")), text)
}

#[test]
fn paragraphs_in_the_style_of_titles_are_headings() {
    for style in ["a3", "a4"] {
        let body = [
            paragraph(Some(style), " "),
            paragraph(None, "Acme"),
            paragraph(Some(style), "Annual *Report* 2024"),
            paragraph(Some("Heading1"), "Chapter one"),
        ];
        let read = |properties: &str| {
            read("a.docx", &docx_with_properties(&body.concat(), TITLES, properties)).expect("a document")
        };
        let untitled = read("<dc:title></dc:title>");
        assert_eq!(untitled.markdown, "Acme\n\n# Annual \\*Report\\* 2024\n\n# Chapter one\n");
        assert_eq!(untitled.title.as_deref(), Some("Annual *Report* 2024"));
        let titled = read("<dc:title>Report</dc:title>");
        assert_eq!(titled.title.as_deref(), Some("Report"));
        assert_eq!(titled.markdown, untitled.markdown);
    }
}

#[test]
fn properties_of_a_template_are_not_those_of_the_document() {
    let read = |author: &str, created: &str, modified: &str| {
        let properties = format!(
            "<dc:creator>{author}</dc:creator><dcterms:created>{created}</dcterms:created><dcterms:modified>{modified}</dcterms:modified>"
        );
        let read =
            read("a.docx", &docx_with_properties(&paragraph(None, "Text"), "", &properties)).expect("a document");
        (read.author, read.published_at)
    };
    let (template, later, then, now) =
        ("2013-12-23T23:15:00Z", "2024-03-01T00:00:00Z", 1_387_840_500_000, 1_709_251_200_000);
    assert_eq!(read("python-docx", template, template), (None, None));
    assert_eq!(read("python-docx", template, later), (None, Some(now)));
    assert_eq!(read("python-docx", later, later), (Some("python-docx".into()), Some(now)));
    assert_eq!(read("Ann", template, template), (Some("Ann".into()), Some(then)));
}

#[test]
fn headings_have_their_numbers() {
    let body = [
        heading(1, "Scope"),
        heading(2, "Pumps"),
        heading(2, "Valves"),
        numbered("Heading1", 0, 0, "<w:t>Preface</w:t>"),
        heading(1, "2. Liability"),
        heading(2, "Limits"),
        numbered("Heading1", 0, 2, "<w:t>Annex</w:t>"),
        numbered("Heading1", 0, 2, "<w:t>Index</w:t>"),
    ];
    assert_eq!(
        markdown(&body, STYLES, &[("decimal", "%1", ""), ("decimal", "%1.%2", "")]),
        "# 1 Scope\n\n## 1.1 Pumps\n\n## 1.2 Valves\n\n# Preface\n\n# 2. Liability\n\n## 2.1 Limits\n\n# 9 Annex\n\n# 10 Index\n"
    );
    // A level that is left out is the first.
    assert_eq!(
        markdown(
            &[heading(2, "Preface"), heading(1, "Scope")],
            STYLES,
            &[("decimal", "%1.", ""), ("decimal", "%1.%2.", "")]
        ),
        "## 1.1. Preface\n\n# 2. Scope\n"
    );
}

#[test]
fn numbers_of_headings_have_their_formats() {
    let body = [heading(1, "Terms"), heading(2, "Names"), heading(1, "Duties"), heading(2, "Payment")];
    for (levels, numbers) in [
        (
            [("upperRoman", "Article %1.", ""), ("decimalZero", "Section %1.%2", "<w:isLgl/>")],
            ["Article I. ", "Section 1.01 ", "Article II. ", "Section 2.01 "],
        ),
        ([("upperLetter", "%1)", ""), ("decimal", "%1.%2", "")], ["A) ", "A.1 ", "B) ", "B.1 "]),
        ([("decimal", "%1", ""), ("decimal", "§ %2", r#"<w:lvlRestart w:val="0"/>"#)], ["1 ", "§ 1 ", "2 ", "§ 2 "]),
        ([("bullet", "•", ""), ("decimal", "%1%2", "")], ["", "1 ", "", "1 "]),
        ([("none", "", ""), ("ordinal", "%2", "")], ["", "", "", ""]),
        ([("ordinal", "%1", ""), ("decimal", "%1.%2", "")], ["", "", "", ""]),
        ([("decimal", "", ""), ("decimal", "%3", "")], ["", "", "", ""]),
    ] {
        let [a, b, c, d] = numbers;
        assert_eq!(
            markdown(&body, STYLES, &levels),
            format!("# {a}Terms\n\n## {b}Names\n\n# {c}Duties\n\n## {d}Payment\n")
        );
    }
}

/// Paragraphs and cells with the numbering count, and a heading behind an item is one for the library.
#[test]
fn headings_are_counted_with_other_paragraphs() {
    let levels = [("decimal", "%1", ""), ("decimal", "%1.%2", "")];
    let clause = numbered("Text", 1, 1, "<w:t>clause</w:t>");
    let hidden = numbered("Heading2", 1, 1, "<w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t>")
        .replace("</w:pPr>", "<w:rPr><w:vanish/></w:rPr></w:pPr>");
    let section =
        r#"<w:p><w:pPr><w:pStyle w:val="Heading1"/><w:sectPr><w:type w:val="continuous"/></w:sectPr></w:pPr></w:p>"#;
    let body = [
        heading(1, "Scope"),
        hidden,
        clause.clone(),
        heading(2, "Pumps"),
        paragraph(None, "Text."),
        section.to_owned(),
        format!("<w:tbl><w:tr><w:tc>{clause}</w:tc></w:tr></w:tbl>"),
        heading(2, "Valves"),
    ];
    let markdown = markdown(&body, STYLES, &levels);
    assert!(markdown.starts_with("# 1 Scope\n"), "{markdown}");
    assert!(markdown.contains("\n1. clause\n2. Pumps\n\nText.\n"), "{markdown}");
    assert!(markdown.ends_with("\n## 1.4 Valves\n"), "{markdown}");
}

#[test]
fn styles_are_linked_to_levels() {
    // The second style states its level only, and the third one nothing but the numbering.
    let styles = r#"<w:style w:type="paragraph" w:styleId="Heading1"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:basedOn w:val="Heading1"/><w:pPr><w:numPr><w:ilvl w:val="1"/></w:numPr></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Heading3"><w:pPr><w:numPr><w:numId w:val="1"/></w:numPr></w:pPr></w:style>"#;
    let [second, third] = ["Heading2", "Heading3"].map(|style| format!(r#"<w:pStyle w:val="{style}"/>"#));
    let (second, third) = (second.as_str(), third.as_str());
    let levels = [("decimal", "%1", ""), ("decimal", "%1.%2", second), ("decimal", "%1.%2.%3", third)];
    let body = [heading(1, "A"), heading(2, "B"), heading(3, "C")];
    assert_eq!(markdown(&body, styles, &levels), "# 1 A\n\n## 1.1 B\n\n### 1.1.1 C\n");
    let levels = [("decimal", "%1", ""), ("decimal", "%1.%2", "")];
    assert_eq!(markdown(&body[..2], styles, &levels), "# 1 A\n\n## B\n");
}

#[test]
fn text_boxes_and_pictures_of_items_follow_the_list() {
    let frame = |text: &str| {
        format!("<w:pict><v:shape><v:textbox><w:txbxContent>{text}</w:txbxContent></v:textbox></v:shape></w:pict>")
    };
    let inner = format!("<w:p><w:r>{}</w:r></w:p>", frame(&paragraph(None, "inner")));
    let table = format!("<w:tbl><w:tr><w:tc>{}</w:tc></w:tr></w:tbl>", paragraph(None, "cell"));
    let picture = r#"<w:drawing><wp:inline><wp:docPr id="1" name="P" descr="A pump"/><a:graphic><a:graphicData><pic:pic><pic:blipFill><a:blip r:embed="r9"/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing>"#;
    let item = |level: u8, content: &str| numbered("Text", level, 1, content);
    let body = [
        item(0, &format!("<w:t>one</w:t>{}", frame(&(paragraph(None, "WARNING: 400 V") + &inner + &table)))),
        item(1, &format!("<w:t>two</w:t>{picture}")),
        paragraph(None, "Text."),
        item(0, "<w:t>three</w:t>"),
        paragraph(None, "End."),
    ];
    assert_eq!(
        read("a.docx", &docx(&body.concat())).expect("a document").markdown,
        "- one\n    - two\n\nWARNING: 400 V\n\ninner\n\ncell\n\n*A pump*\n\nText.\n\n- three\n\nEnd.\n"
    );
}

/// Builds a paragraph with a formula.
fn formula(content: &str) -> String {
    format!("<w:p><m:oMathPara><m:oMath>{content}</m:oMath></m:oMathPara></w:p>")
}

#[test]
fn formulas_keep_their_structure() {
    let argument = |name: &str, text: &str| format!("<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>");
    let power =
        |base: &str, exponent: &str| format!("<m:sSup>{}{}</m:sSup>", argument("e", base), argument("sup", exponent));
    let quotient =
        |above: &str, below: &str| format!("<m:f>{}{}</m:f>", argument("num", above), argument("den", below));
    let sum = format!(
        r#"<m:rad><m:deg/>{}</m:rad><m:r><m:t>+</m:t></m:r><m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{}{}{}</m:nary>"#,
        argument("e", "2"),
        argument("sub", "i=1"),
        argument("sup", "n"),
        argument("e", "i")
    );
    let body = [
        formula(&power("10", "6")),
        formula(&format!("<m:d>{}</m:d>{}", argument("e", "x"), quotient("1", "2"))),
        formula(&format!("{}<m:r><m:t>=</m:t></m:r>{}", quotient("a+1", "b"), power("x", "2"))),
        formula(&sum),
        r#"<w:p><w:r><w:t>Text</w:t><w:footnoteReference w:id="2"/></w:r></w:p>"#.to_owned(),
    ];
    let note = format!(r#"<w:footnote w:id="2">{}</w:footnote>"#, formula(&power("10", "9")));
    let markdown = read("a.docx", &docx_with_notes(&body.concat(), &note, "")).expect("a document").markdown;
    for expected in ["10^6", "1/2", "(a+1)/b=x^2", "√2+∑", "10^9"] {
        assert!(markdown.contains(expected), "{expected}: {markdown}");
    }
    for wrong in ["106", "109", "x12"] {
        assert!(!markdown.contains(wrong), "{wrong}: {markdown}");
    }
}

#[test]
fn text_under_phonetic_guides_is_read() {
    let body = "<w:p><w:r><w:ruby><w:rubyPr/><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby></w:r><w:r><w:t>に行く</w:t></w:r></w:p>";
    assert_eq!(read("a.docx", &docx(body)).expect("a document").markdown, "東京に行く\n");
}

#[test]
fn fields_in_instructions_and_drop_caps_are_no_text_of_their_own() {
    let mark = |kind: &str| format!(r#"<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>"#);
    let run = |text: &str| format!(r#"<w:r><w:t xml:space="preserve">{text}</w:t></w:r>"#);
    let code = |text: &str| format!("<w:r><w:instrText>{text}</w:instrText></w:r>");
    let [begin, separate, end] = ["begin", "separate", "end"].map(mark);
    let merged = [begin.as_str(), &code("MERGEFIELD x"), &separate, &run("INNER"), &end].concat();
    let field = [begin.as_str(), &code("IF"), &merged, &code("= 1 2 3"), &separate, &run("RESULT"), &end].concat();
    let cap = format!(r#"<w:p><w:pPr><w:framePr w:dropCap="drop"/></w:pPr>{}</w:p>"#, run("D"));
    let body = format!("<w:p>{}{field}{}</w:p>{cap}<w:p>{}</w:p>", run("The "), run(" is so."), run("rop caps start."));
    assert_eq!(read("a.docx", &docx(&body)).expect("a document").markdown, "The RESULT is so.\n\nDrop caps start.\n");
}

#[test]
fn deeply_nested_formulas_are_read() {
    let [open, close] = ["<m:d><m:e>", "</m:e></m:d>"].map(|tags| tags.repeat(100_000));
    let body = formula(&format!("{open}<m:r><m:t>23</m:t></m:r>{close}"));
    assert!(read("a.docx", &docx(&body)).expect("a document").markdown.contains("23"));
}
