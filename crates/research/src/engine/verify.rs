//! Comparison of quotes with captures, byte for byte.

use retrieval_core::quotes;

use super::step::{Check, CitationCheck};

/// Compares a quote with the content of its capture, `None` if that is gone. Positions are characters (Unicode scalar values).
pub fn compare(citation: &CitationCheck, content: Option<&str>) -> Check {
    let find = |content| quotes::find(content, &citation.quote, citation.char_start);
    Check { n: citation.n, char_start: content.and_then(find) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{CaptureId, DocId};
    use uuid::Uuid;

    #[test]
    fn quotes_are_compared_byte_for_byte() {
        let citation = |quote: &str, char_start| CitationCheck {
            n: 1,
            doc_id: DocId(Uuid::nil()),
            capture_id: CaptureId(Uuid::nil()),
            passage_id: None,
            quote: quote.to_owned(),
            char_start,
        };
        let content = Some("añ b. añ b.");
        assert_eq!(compare(&citation("añ", Some(6)), content).char_start, Some(6));
        assert_eq!(compare(&citation("añ", Some(5)), content).char_start, Some(6), "found elsewhere");
        assert_eq!(compare(&citation("b", None), content).char_start, Some(3));
        assert_eq!(compare(&citation("an", Some(0)), content).char_start, None);
        assert_eq!(compare(&citation("", Some(0)), content).char_start, None);
        assert_eq!(compare(&citation("añ", Some(usize::MAX)), content).char_start, Some(6));
        assert_eq!(compare(&citation("añ", Some(0)), None).char_start, None);
    }
}
