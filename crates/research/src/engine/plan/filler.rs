//! Words that ask for a report and do not describe its subject.

/// Folded words of instructions and questions, sorted.
#[rustfmt::skip]
const FILLER: &[&str] = &[
    "about", "analyse", "analyze", "answer", "beschreibe", "beschreiben", "between", "bitte", "compare", "compared",
    "comparison", "contrast", "decris", "describe", "difference", "differences", "discuss", "erklare", "erklaren",
    "explain", "explique", "find", "finde", "give", "im", "information", "know", "let", "list", "liste", "many", "me",
    "much", "overview", "please", "provide", "report", "research", "show", "summarise", "summarize", "summary", "tell",
    "uberblick", "understand", "unterschied", "unterschiede", "vergleich", "vergleiche", "versus", "vs", "want",
    "write", "zusammenfassung",
];

/// Returns true if a folded word carries no meaning of its own in a question.
pub(crate) fn is_filler(word: &str) -> bool {
    FILLER.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    #[test]
    fn words_are_sorted() {
        assert!(super::FILLER.is_sorted(), "required by binary search");
    }
}
