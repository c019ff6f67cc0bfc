//! Radicals and ligatures that stand for other characters in the text of a PDF.

use crate::documents::read;
use crate::files::pdf_of;

/// Characters of the font by code, from 1.
const RADICALS: &str = "⽇本⼈⼤学⺠⻑⻄⻘";
const TEXT: &str = "日本人大学民長西青";

/// Returns the markdown of a page whose font states the radicals, in a writing mode (`H` or `V`).
fn markdown(mode: char, content: &str) -> String {
    markdown_of(RADICALS, mode, content)
}

/// Returns the markdown of a page whose font states these characters, by code from 1.
fn markdown_of(characters: &str, mode: char, content: &str) -> String {
    let stream = |text: &str| format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len());
    let maps: String =
        (1..).zip(characters.chars()).map(|(code, c)| format!("<{code:04X}> <{:04X}>\n", u32::from(c))).collect();
    let unicode = format!(
        "/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n/CMapType 2 def\n1 begincodespacerange\n<0000> <FFFF>\nendcodespacerange\n{} beginbfchar\n{maps}endbfchar\nendcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n",
        characters.chars().count()
    );
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>".to_owned(),
        format!("<< /Type /Font /Subtype /Type0 /BaseFont /Song /Encoding /Identity-{mode} /DescendantFonts [7 0 R] /ToUnicode 8 0 R >>"),
        "<< /Title (Notes) >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 6 0 R >>"
            .to_owned(),
        stream(content),
        "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Song /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /DW 1000 /FontDescriptor 9 0 R >>"
            .to_owned(),
        stream(&unicode),
        "<< /Type /FontDescriptor /FontName /Song /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >>"
            .to_owned(),
    ];
    read("page.pdf", &pdf_of(&objects)).expect("a document").markdown
}

/// Returns the codes of all characters of the font as a string of a content stream.
fn codes() -> String {
    (1..=RADICALS.chars().count()).map(|code| format!("{code:04X}")).collect()
}

#[test]
fn radicals_of_a_font_are_read_as_characters() {
    for mode in ['H', 'V'] {
        let text = markdown(mode, &format!("BT /F1 12 Tf 300 720 Td <{}> Tj ET", codes()));
        assert_eq!(text.trim(), TEXT, "{mode}");
    }
    let turned = format!("BT /F1 12 Tf 72 720 Td <{0}> Tj ET BT /F1 12 Tf 0 1 -1 0 100 300 Tm <{0}> Tj ET", codes());
    assert_eq!(markdown('H', &turned), format!("{TEXT}\n\n{TEXT}\n"));
}

#[test]
fn radicals_of_a_replacement_text_are_read_as_characters() {
    let replaced: String = "⽇⼈⻑".chars().map(|c| format!("{:04X}", u32::from(c))).collect();
    let marked = format!("/Span << /ActualText <FEFF{replaced}> >> BDC <000100020003> Tj EMC");
    let text = markdown('H', &format!("BT /F1 12 Tf 72 720 Td {marked} 0 -16 Td <{}> Tj ET", codes()));
    assert!(text.starts_with("日人長\n") && text.trim().ends_with(TEXT), "{text}");
}

#[test]
fn ligatures_and_forms_of_a_font_are_read_as_letters() {
    let line = |codes: &str| format!("BT /F1 12 Tf 72 720 Td <{codes}> Tj ET");
    let find = line("000100020003");
    assert_eq!(markdown_of("\u{fb01}nd", 'H', &find).trim(), "find");
    let turned = format!("{find} BT /F1 12 Tf 0 1 -1 0 100 300 Tm <000100020003> Tj ET");
    assert_eq!(markdown_of("\u{fb01}nd", 'H', &turned), "find\n\nfind\n");
    let vertical = markdown_of("\u{fb01}nd", 'V', &find);
    assert!(vertical.contains("fi") && !vertical.contains('\u{fb01}'), "{vertical}");
    // Meem, lam-alef and seen, from left to right.
    assert_eq!(markdown_of("\u{fee1}\u{fefc}\u{feb3}", 'H', &find).trim(), "\u{633}\u{644}\u{627}\u{645}");
}
