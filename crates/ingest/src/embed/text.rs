//! Texts that are embedded: each passage with the title of its document and the headings above it.

use std::ops::Range;

use docstore::Passage;
use model::CaptureFormat;
use retrieval_core::chars::truncate;
use retrieval_core::plain;
use sha2::{Digest, Sha256};

/// Maximum number of embedded passages per document. The rest of a longer document is found by its words only.
pub const MAX_PASSAGES: usize = 2_000;
const TITLE_CHARS: usize = 200;
const PATH_CHARS: usize = 300;
/// Models read about 512 tokens.
const PASSAGE_CHARS: usize = 2_000;

/// First 16 bytes of the SHA-256 digest of a text.
pub type TextDigest = [u8; 16];

/// Text of a passage.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PassageText {
    pub ordinal: u32,
    pub text: String,
    pub digest: TextDigest,
}

/// Returns the texts of the passages that have any. Skips passages that do not fit the content.
pub fn passage_texts(
    title: Option<&str>,
    format: CaptureFormat,
    content: &str,
    passages: &[Passage],
) -> Vec<PassageText> {
    let mut end = 0;
    let fits = |passage: &&Passage| {
        let range = range(passage);
        let fits = end <= range.start && content.get(range.clone()).is_some();
        if fits {
            end = range.end;
        }
        fits
    };
    let passages: Vec<&Passage> = passages.iter().filter(fits).take(MAX_PASSAGES).collect();
    let ranges: Vec<Range<usize>> = passages.iter().map(|passage| range(passage)).collect();
    let texts = match format {
        CaptureFormat::Markdown => plain::parts(content, &ranges),
        CaptureFormat::Text => {
            ranges.iter().filter_map(|range| content.get(range.clone())).map(str::to_owned).collect()
        }
    };
    let title = truncate(title.unwrap_or_default().trim(), TITLE_CHARS);
    let with_context = |(passage, text): (&Passage, String)| {
        let text = truncate(text.trim(), PASSAGE_CHARS);
        if text.is_empty() {
            return None;
        }
        let path =
            passage.section_path.0.iter().map(|part| part.trim()).filter(|part| !part.is_empty() && *part != title);
        let path = path.collect::<Vec<_>>().join(" > ");
        let lines = [title, truncate(&path, PATH_CHARS), text];
        let text = lines.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        let ordinal = u32::try_from(passage.ordinal).ok()?;
        Some(PassageText { ordinal, digest: digest(&text), text })
    };
    passages.into_iter().zip(texts).filter_map(with_context).collect()
}

fn range(passage: &Passage) -> Range<usize> {
    let offset = |column: i32| usize::try_from(column).unwrap_or(usize::MAX);
    offset(passage.byte_start)..offset(passage.byte_end)
}

fn digest(text: &str) -> TextDigest {
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    let mut first = TextDigest::default();
    first.copy_from_slice(&digest[..16]);
    first
}

#[cfg(test)]
mod tests {
    use docstore::Strings;
    use model::{CaptureId, DocId, PassageId};
    use uuid::Uuid;

    use super::*;

    fn passage(ordinal: i32, bytes: Range<i32>, path: &[&str]) -> Passage {
        Passage {
            passage_id: PassageId(Uuid::nil()),
            doc_id: DocId(Uuid::nil()),
            capture_id: CaptureId(Uuid::nil()),
            ordinal,
            byte_start: bytes.start,
            byte_end: bytes.end,
            char_start: bytes.start,
            char_end: bytes.end,
            section_path: Strings(path.iter().map(|part| (*part).to_owned()).collect()),
        }
    }

    fn texts(title: Option<&str>, content: &str, passages: &[Passage]) -> Vec<String> {
        let texts = passage_texts(title, CaptureFormat::Markdown, content, passages);
        texts.into_iter().map(|text| text.text).collect()
    }

    #[test]
    fn passages_are_embedded_with_title_and_headings() {
        let content = "Staff get **30 days** of [holiday](https://example.com/).";
        let passages = [passage(0, 0..content.len() as i32, &["Handbook", "Leave", "Paid"])];
        let expected = "Handbook\nLeave > Paid\nStaff get 30 days of holiday.";
        assert_eq!(texts(Some("Handbook"), content, &passages), [expected]);
        assert_eq!(texts(None, content, &[passage(0, 0..5, &[])]), ["Staff"]);
    }

    #[test]
    fn passages_that_do_not_fit_the_content_are_skipped() {
        let bad = [-1..2, Range { start: 4, end: 2 }, 2..99, 5..6].map(|bytes| passage(1, bytes, &[]));
        // The third byte of the content begins inside a character.
        assert_eq!(
            texts(None, "ab cdé", &[&bad[..], &[passage(2, 0..2, &[]), passage(3, 1..4, &[])]].concat()),
            ["ab"]
        );
    }

    #[test]
    fn blank_passages_and_those_beyond_the_limit_are_not_embedded() {
        assert!(texts(Some("Title"), "   \n", &[passage(0, 0..4, &[])]).is_empty());
        let many: Vec<Passage> = (0..3_000).map(|n| passage(n, n..n + 1, &[])).collect();
        assert_eq!(texts(None, &"a".repeat(3_000), &many).len(), MAX_PASSAGES);
    }
}
