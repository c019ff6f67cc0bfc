//! Selection of the passages of one document that answer a query.

use crate::analysis::Language;
use crate::passages::PassageSpan;
use crate::query_matcher::QueryMatcher;
use crate::rerank::{DocumentText, passages_of_one};

/// Returns the positions in `spans` of the passages that match the query in their text or in the headings above them,
/// best first; equal ones in document order. Empty if none matches.
///
/// `spans` are the passages of `content`, as [`crate::passages::split`] returns them. A word weighs more if fewer
/// passages contain it. `language` is the ISO 639-1 code of the document.
pub fn query_relevant(query: &str, content: &str, spans: &[PassageSpan], language: Option<&str>) -> Vec<usize> {
    let languages = [language.and_then(Language::from_code).unwrap_or(Language::English)];
    let matcher = QueryMatcher::new(query, &languages);
    let document = DocumentText { content, passages: spans, language, ..DocumentText::default() };
    passages_of_one(&matcher, &document)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::passages::split;
    use proptest::prelude::*;

    #[test]
    fn the_best_matching_passage_comes_first() {
        let content = "# Pump\n\nGeneral words about the pump.\n\n## Grease\n\nUse NLGI 2 grease for the bearing.\n\n\
                       ## Oil\n\nThe pump takes oil. The pump needs no grease.\n\n## Legal\n\nNothing of interest.\n";
        let spans = split(content);
        let select = |query| query_relevant(query, content, &spans, Some("en"));
        assert_eq!(select("which grease for the bearings?")[0], 1);
        assert_eq!(select("pump oil")[0], 2);
        assert!(!select("pump oil").contains(&3) || spans[3].section_path.contains(&"Pump".to_owned()));
        assert_eq!(select("legal")[0], 3, "headings are evidence");
        assert!(select("submarine").is_empty() && select("").is_empty());
        assert!(query_relevant("pump", "", &[], None).is_empty());
    }

    #[test]
    fn documents_are_analysed_in_their_language() {
        let content = "## A\n\nAllgemeines über Maschinen.\n\n## B\n\nDie Pumpen werden jährlich gewartet.\n";
        assert_eq!(query_relevant("Pumpe wartung jährliche", content, &split(content), Some("de")), [1]);
    }

    proptest! {
        #[test]
        fn any_input_yields_valid_positions(query in "\\PC{0,30}", content in "(?s).{0,300}") {
            let spans = split(&content);
            let mut positions = query_relevant(&query, &content, &spans, None);
            let count = positions.len();
            positions.sort_unstable();
            positions.dedup();
            prop_assert!(positions.len() == count && positions.iter().all(|position| *position < spans.len()));
        }
    }
}
