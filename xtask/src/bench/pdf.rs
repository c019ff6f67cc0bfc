//! Generated PDFs of text pages.

/// Text of one page, and how the pages refer to it.
pub enum Pages<'a> {
    /// Every page has its own copy.
    Own { content: &'a str, count: usize },
    /// All pages refer to one copy: a small file with much text.
    Shared { content: &'a str, count: usize },
}

/// Returns the operators of a page with `lines` lines of text.
pub fn content(lines: usize) -> String {
    const LINE: &str = "(The quick brown fox jumps over the lazy dog, and the dog does not mind it.) Tj T*\n";
    format!("BT /F1 9 Tf 40 800 Td 11 TL\n{}ET", LINE.repeat(lines))
}

/// Returns an uncompressed PDF.
pub fn document(pages: &Pages<'_>) -> Vec<u8> {
    let (content, count, copies) = match *pages {
        Pages::Own { content, count } => (content, count, count),
        Pages::Shared { content, count } => (content, count, 1),
    };
    let mut pdf = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    // Objects are numbered in the order in which they are added.
    let mut object = |body: &str| {
        offsets.push(pdf.len());
        pdf.extend_from_slice(format!("{} 0 obj\n{body}\nendobj\n", offsets.len()).as_bytes());
    };
    let first_page = 4 + copies;
    object("<</Type/Catalog/Pages 2 0 R>>");
    let kids: String = (0..count).map(|page| format!("{} 0 R ", first_page + page)).collect();
    object(&format!("<</Type/Pages/Count {count}/Kids[{kids}]>>"));
    object("<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>");
    for _ in 0..copies {
        object(&format!("<</Length {}>>stream\n{content}\nendstream", content.len()));
    }
    for page in 0..count {
        let resources = "/Resources<</Font<</F1 3 0 R>>>>";
        let content = 4 + page % copies;
        object(&format!("<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]{resources}/Contents {content} 0 R>>"));
    }
    let xref = pdf.len();
    pdf.extend_from_slice(format!("xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1).as_bytes());
    for offset in &offsets {
        pdf.extend_from_slice(format!("{offset:010} 00000 n \n").as_bytes());
    }
    let trailer = format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{xref}\n%%EOF", offsets.len() + 1);
    pdf.extend_from_slice(trailer.as_bytes());
    pdf
}

#[cfg(test)]
mod tests {
    use super::{Pages, content, document};

    #[test]
    fn shared_text_is_written_once() {
        let text = content(50);
        let own = document(&Pages::Own { content: &text, count: 40 });
        let shared = document(&Pages::Shared { content: &text, count: 40 });
        let copies = |pdf: &[u8]| String::from_utf8_lossy(pdf).matches("stream\nBT").count();
        assert_eq!((copies(&own), copies(&shared)), (40, 1));
        let tables = [own, shared].map(|pdf| String::from_utf8_lossy(&pdf).matches(" 00000 n ").count());
        assert_eq!(tables, [83, 44]);
    }
}
