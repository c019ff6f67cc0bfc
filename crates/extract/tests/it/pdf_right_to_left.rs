//! Right-to-left text of PDF pages as browsers write it: glyphs from left to right, letters that join their neighbours with a
//! replacement text each.

use crate::documents::read;
use crate::files::pdf_of;

/// Glyphs of a font that states their characters: a code each, from 1. All are 0.6 ems wide.
const ALONE: &str = "\u{631}\u{627}\u{62f}\u{628}\u{645} 0123:";

/// Part of a line that is shown at once.
enum Part {
    /// Glyphs that the font states, from left to right.
    Known(&'static str),
    /// A glyph without a character, and its replacement text.
    Replaced(&'static str),
    /// A glyph without a character, and its replacement text as a literal string of one byte.
    Literal(char),
}
use Part::{Known, Literal, Replaced};

/// Returns the markdown of a page with a line; codes that the font does not have are `default_width` thousandths of an em wide.
fn markdown(parts: &[Part], default_width: u16) -> String {
    markdown_with(parts, default_width, &[])
}

/// Returns the markdown of a page with a line in a font that has characters for further codes.
fn markdown_with(parts: &[Part], default_width: u16, more: &[(u16, char)]) -> String {
    let code = |c: char| ALONE.chars().position(|known| known == c).expect("a glyph of the font") + 1;
    let mut content = "BT /F1 10 Tf 1 0 0 1 72 700 Tm\n".to_owned();
    let mut advance = 0;
    for part in parts {
        let shown = match part {
            Known(text) => {
                let codes: String = text.chars().map(|c| format!("{:04X}", code(c))).collect();
                format!("{advance} 0 Td <{codes}> Tj\n")
            }
            Replaced(text) => {
                let units: String = text.encode_utf16().map(|unit| format!("{unit:04X}")).collect();
                format!("/Span <</ActualText <FEFF{units}>>> BDC {advance} 0 Td <0020> Tj EMC\n")
            }
            Literal(c) => {
                let escape = if matches!(c, '(' | ')') { "\\" } else { "" };
                format!("/Span <</ActualText ({escape}{c})>> BDC {advance} 0 Td <0020> Tj EMC\n")
            }
        };
        content += &shown;
        advance = 6 * if let Known(text) = part { text.chars().count() } else { 1 };
    }
    content += "ET\n";
    let alone = ALONE.chars().map(|c| (code(c), c));
    let known = alone.chain(more.iter().map(|(code, c)| (usize::from(*code), *c)));
    let characters: Vec<String> = known.map(|(code, c)| format!("<{code:04X}> <{:04X}>", u32::from(c))).collect();
    let unicode = format!(
        "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange\n\
         {} beginbfchar\n{}\nendbfchar endcmap end",
        characters.len(),
        characters.join("\n")
    );
    let stream = |text: &str| format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len());
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H /DescendantFonts [8 0 R] /ToUnicode 7 0 R >>"
            .to_owned(),
        "<< /Title (Notes) >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 6 0 R >>"
            .to_owned(),
        stream(&content),
        stream(&unicode),
        format!(
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /DW {default_width} /W [1 32 600] /CIDSystemInfo \
             << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
        ),
    ];
    read("page.pdf", &pdf_of(&objects)).expect("a document").markdown
}

#[test]
fn joined_letters_are_where_their_glyphs_are() {
    // From the left; the parenthesis of a word is drawn mirrored, and lam-alef is one glyph.
    let line = [
        Known("\u{631}\u{627}\u{62f}"),
        Known(" 2013 "),
        Known("\u{628}"),
        Replaced("\u{627}"),
        Replaced("\u{62a}"),
        Replaced("\u{643}"),
        Known(" "),
        Replaced(")"),
        Known("\u{645}"),
        Replaced("\u{644}\u{627}"),
        Replaced("\u{633}"),
        Replaced("("),
    ];
    for default_width in [0, 1000] {
        assert_eq!(
            markdown(&line, default_width),
            "(\u{633}\u{644}\u{627}\u{645}) \u{643}\u{62a}\u{627}\u{628} 2013 \u{62f}\u{627}\u{631}\n"
        );
    }
}

/// The byte of a bracket is the code of another character, or of none.
#[test]
fn brackets_that_are_mirrored_are_read() {
    let line = [
        Known("\u{631}\u{627} "),
        Literal(')'),
        Known("12"),
        Literal('('),
        Known(" \u{628} "),
        Literal(']'),
        Known("3"),
        Literal('['),
        Known(" \u{645}"),
    ];
    for more in [&[][..], &[(0x28, 'E'), (0x29, 'F'), (0x5b, 'g')], &[(0x29, '('), (0x28, ')')]] {
        let read = markdown_with(&line, 1000, more);
        assert_eq!(read, "\u{645} [3] \u{628} (12) \u{627}\u{631}\n", "{more:?}");
    }
    // A character of the line itself.
    assert_eq!(markdown_with(&line, 1000, &[(0x28, '\u{628}')]).matches('\u{628}').count(), 2);
}
