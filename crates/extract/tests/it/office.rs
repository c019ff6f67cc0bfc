//! Office formats other than docx, and files with the extension of a related format.

use extract::ExtractErrorKind;

use crate::documents::read;
use crate::files::{RTF, archive, docx, docx_with_notes, opendocument, paragraph, xlsx};

#[test]
fn open_text_document_keeps_structure() {
    let styles = r#"<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style><text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1"/></text:list-style>"#;
    let body = r##"<text:h text:outline-level="1">Pumps &amp; valves</text:h>
        <text:p>A <text:span text:style-name="B">bold</text:span> word,<text:s text:c="2"/>a <text:a xlink:href="http://a.b/c">link</text:a><text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>Small print.</text:p></text:note-body></text:note>.</text:p>
        <text:list text:style-name="N"><text:list-item><text:p>one</text:p></text:list-item><text:list-item><text:p>two</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>
        <table:table><table:table-row><table:table-cell><text:p>Part</text:p></table:table-cell><table:table-cell><text:p>Count</text:p></table:table-cell></table:table-row>
        <table:table-row><table:table-cell><text:p>Bolt</text:p></table:table-cell><table:table-cell><text:p>12</text:p></table:table-cell></table:table-row></table:table>
        <office:annotation><text:p>a remark</text:p></office:annotation>"##;
    let read = read("pumps.odt", &opendocument("text", styles, body)).expect("a document");
    assert_eq!(
        read.markdown,
        "# Pumps & valves\n\nA **bold** word,  a [link](http://a.b/c)[^1].\n\n1. one\n2. two\n    - inner\n\n| Part | Count |\n| --- | --- |\n| Bolt | 12 |\n\n[^1]: Small print.\n"
    );
    assert_eq!((read.title.as_deref(), read.author.as_deref()), (Some("Open & free"), Some("Ann")));
    assert_eq!(read.published_at, Some(1_709_251_200_000));
}

#[test]
fn emphasis_is_marked_once() {
    let styles = ["B", "C"].map(|name| {
        format!(r#"<style:style style:name="{name}"><style:text-properties fo:font-weight="bold"/></style:style>"#)
    });
    let italic = r#"<style:style style:name="I"><style:text-properties fo:font-style="italic"/></style:style>"#;
    let span = |style: &str, text: &str| format!(r#"<text:span text:style-name="{style}">{text}</text:span>"#);
    for (text, markdown) in [
        (span("B", "split ") + &span("C", "word"), "**split** **word**"),
        (span("B", "split") + &span("B", "") + &span("C", " word") + &span("I", "!"), "**split word***!*"),
        (span("I", "a") + &span("I", "b"), "*ab*"),
        (span("B", &span("C", "twice")), "**twice**"),
        (span("B", &span("I", "both")), "***both***"),
        // Asterisks of the text stay.
        ("Password: ****".to_owned(), "Password: ****"),
        (span("B", "note**") + &span("B", "**"), "**note\\*\\*\\*\\***"),
        ("x**".to_owned() + &span("B", "y"), "x\\*\\***y**"),
    ] {
        let body = format!("<text:p>{text}</text:p>");
        let file = opendocument("text", &(styles.concat() + italic), &body);
        assert_eq!(read("a.odt", &file).expect("a document").markdown, format!("{markdown}\n"));
    }
}

#[test]
fn slides_and_sheets_have_headings() {
    let slide = |title: &str, text: &str| {
        format!(
            r#"<draw:page><draw:frame presentation:class="title"><draw:text-box><text:p>{title}</text:p></draw:text-box></draw:frame><draw:frame><draw:text-box><text:p>{text}</text:p></draw:text-box></draw:frame></draw:page>"#
        )
    };
    let slides = [slide("Goals", "Less noise"), slide("Part two", ""), slide("", ""), slide("Costs", "Three million")];
    let read_slides = read("talk.odp", &opendocument("presentation", "", &slides.concat())).expect("slides");
    assert_eq!(
        read_slides.markdown,
        "## Slide 1: Goals\n\nLess noise\n\n## Slide 2: Part two\n\n## Slide 4: Costs\n\nThree million\n"
    );

    let sheet = r#"<table:table table:name="Prices"><table:table-row><table:table-cell><text:p>Item</text:p></table:table-cell><table:table-cell office:value="7"><text:p>7 EUR</text:p></table:table-cell><table:table-cell table:number-columns-repeated="16000"/></table:table-row><table:table-row table:number-rows-repeated="1048000"><table:table-cell table:number-columns-repeated="16384"/></table:table-row></table:table>"#;
    let read_sheet = read("prices.ods", &opendocument("spreadsheet", "", sheet)).expect("a sheet");
    assert_eq!(read_sheet.markdown, "## Sheet: Prices\n\n| Item | 7 EUR |\n| --- | --- |\n");

    let two =
        xlsx(&[("Prices", &[&["Item", "EUR"], &["Bolt", "7"]]), ("Stock", &[&["Item", "Count"], &["Bolt", "12"]])]);
    let workbook = read("book.xlsx", &two).expect("a workbook");
    assert!(workbook.markdown.starts_with("## Sheet: Prices\n\n| Item | EUR |\n"), "{}", workbook.markdown);
    assert!(workbook.markdown.contains("## Sheet: Stock\n\n| Item | Count |\n"), "{}", workbook.markdown);
    assert_eq!(workbook.title.as_deref(), Some("book"));
    let plain = read("book.xlsx", &xlsx(&[("Sheet1", &[&["a", "b"], &["1", "2"]])])).expect("a workbook");
    assert!(plain.markdown.starts_with("| a | b |\n"), "{}", plain.markdown);
}

#[test]
fn titles_of_slides_keep_their_characters() {
    let styles = r#"<style:style style:name="B"><style:text-properties fo:font-weight="bold"/></style:style>"#;
    let slide = |title: &str| {
        format!(
            r#"<draw:page><draw:frame presentation:class="title"><draw:text-box>{title}</draw:text-box></draw:frame></draw:page>"#
        )
    };
    for (title, heading) in [
        ("<text:p>Price* and 5 * 3</text:p>", "Price* and 5 * 3"),
        ("<text:p>Invoice #</text:p>", "Invoice \\#"),
        ("<text:p>10*20*30 C:\\dir</text:p>", "10\\*20*30 C:\\dir"),
        ("<text:p>a[i](x) and `y`</text:p>", "a[i]\\(x) and \\`y\\`"),
        (
            r#"<text:p>A <text:span text:style-name="B">bold*</text:span><text:line-break/>word</text:p>"#,
            "A bold* word",
        ),
        (r#"<text:p>See <text:a xlink:href="http://a.b">this</text:a></text:p>"#, "See this"),
        ("<text:p>10*20</text:p><text:p>30*40</text:p>", "10\\*20 30*40"),
        ("<text:list><text:list-item><text:p>In a list*</text:p></text:list-item></text:list>", "In a list*"),
    ] {
        let file = opendocument("presentation", styles, &slide(title));
        assert_eq!(read("a.odp", &file).expect("slides").markdown, format!("## Slide 1: {heading}\n"));
    }
}

#[test]
fn rich_text_is_decoded_with_its_character_set() {
    let read = read("plan.rtf", RTF).expect("a document");
    assert_eq!(read.markdown, "# Heading\n\nПривет bold\n\n| a | b |\n| --- | --- |\n\nend\n");
    assert_eq!((read.title.as_deref(), read.author.as_deref()), (Some("Plan"), Some("Ann")));
}

/// The reference stands in its sentence and the note at the end of the document, as in ODT and RTF.
#[test]
fn notes_of_word_documents_follow_the_document() {
    let reference = |kind: &str, id: u32| {
        format!(r#"<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:{kind}Reference w:id="{id}"/></w:r>"#)
    };
    let run = |text: &str| format!(r#"<w:r><w:t xml:space="preserve">{text}</w:t></w:r>"#);
    let heading = r#"<w:pPr><w:pStyle w:val="Heading1"/></w:pPr>"#;
    let body = [
        format!("<w:p>{}{}{}</w:p>", run("Revenue fell by 5 %"), reference("footnote", 3), run(" in 2023.")),
        format!("<w:p>{heading}{}{}</w:p>", run("Costs"), reference("endnote", 2)),
        format!("<w:tbl><w:tr><w:tc><w:p>{}{}</w:p></w:tc></w:tr></w:tbl>", run("a"), reference("footnote", 2)),
        format!("<w:p>{}{}{}</w:p>", run("Again"), reference("footnote", 3), reference("footnote", 9)),
    ];
    let note = |kind: &str, id: u32, text: &str| {
        format!(
            r#"<w:{kind} w:id="{id}"><w:p><w:r><w:{kind}Ref/></w:r>{}</w:p>{}</w:{kind}>"#,
            run(text),
            paragraph(None, "[more]")
        )
    };
    let separator = r#"<w:footnote w:type="separator" w:id="0"><w:p/></w:footnote>"#;
    let footnotes =
        [note("footnote", 2, "in EUR"), note("footnote", 3, "before tax"), note("footnote", 4, "left over")];
    let file =
        docx_with_notes(&body.concat(), &(separator.to_owned() + &footnotes.concat()), &note("endnote", 2, "audited"));
    assert_eq!(
        read("a.docx", &file).expect("a document").markdown,
        "Revenue fell by 5 %[^1] in 2023.\n\n# Costs[^2]\n\n| a[^3] |\n| --- |\n\nAgain[^1]\n\nleft over\n\n\\[more\\]\n\n[^1]: before tax \\[more\\]\n\n[^2]: audited \\[more\\]\n\n[^3]: in EUR \\[more\\]\n"
    );
}

#[test]
fn related_extension_is_read_and_unrelated_is_rejected() {
    let word = docx(&paragraph(None, "Words in it"));
    assert_eq!(read("old.doc", &word).expect("a document").markdown, "Words in it\n");
    assert!(read("old.doc", RTF).expect("a document").markdown.contains("# Heading"));
    let web = b"<html><body><table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table></body></html>";
    assert_eq!(read("export.xls", web).expect("a table").markdown, "| a | b |\n| --- | --- |\n| 1 | 2 |\n");
    for (name, bytes) in
        [("a.xlsx", word.clone()), ("a.pptx", word.clone()), ("a.odt", b"text".to_vec()), ("a.rtf", b"text".to_vec())]
    {
        let error = read(name, &bytes).expect_err("another type");
        assert_eq!(error.kind, ExtractErrorKind::WrongType, "{name}: {error}");
    }
}

#[test]
fn encrypted_files_are_reported() {
    let manifest = r#"<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>"#;
    let odt = archive(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", "\u{1}\u{2}"),
        ("META-INF/manifest.xml", manifest),
    ]);
    assert_eq!(read("a.odt", &odt).expect_err("encrypted").kind, ExtractErrorKind::Encrypted);
    let mut office = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1".to_vec();
    office.resize(2048, 0);
    office.extend("EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes));
    assert_eq!(read("a.docx", &office).expect_err("encrypted").kind, ExtractErrorKind::Encrypted);
}
