//! Words that join or open clauses, in the languages that the rules know.

/// Conjunctions. Words that mean something else in another language, such as the Dutch `en`, are left out.
pub(super) const AND: &[&str] =
    &["and", "und", "et", "y", "e", "och", "og", "oraz", "и", "та", "ve", "și", "és", "και"];

/// Conjunctions of the last entry of an enumeration.
pub(super) const AND_OR: &[&str] = &["and", "und", "et", "y", "e", "och", "og", "oraz", "и", "or", "oder", "ou"];

/// Conjunctions that are safe between two names after an opening such as `verschil tussen`.
pub(super) const BETWEEN_NAMES: &[&str] = &["en", "a", "i", "ja", "dan"];

/// Words that open a question and no relative clause.
pub(super) const AFTER_COMMA: &[&str] = &["how", "why", "what", "wie", "warum", "comment", "pourquoi", "cómo", "como"];

/// Words that open a question.
#[rustfmt::skip]
pub(super) const QUESTION_WORDS: &[&str] = &[
    "what", "how", "why", "when", "where", "who", "which", "whose",
    "was", "wie", "warum", "wieso", "weshalb", "wann", "wo", "wer", "welche", "welcher", "welches", "wozu",
    "comment", "pourquoi", "quand", "où", "qui", "quel", "quelle", "quels", "quelles", "combien",
    "cómo", "qué", "cuándo", "dónde", "quién", "cuál", "cuáles", "cuánto", "cuántos",
    "come", "perché", "quando", "dove", "chi", "quale", "quali", "quanto",
    "como", "porquê", "onde", "quem", "qual", "quais",
    "wat", "hoe", "waarom", "wanneer", "waar", "wie",
    "vad", "hur", "varför", "när", "var", "vem", "vilken", "hvad", "hvordan", "hvorfor", "hva",
    "co", "jak", "dlaczego", "kiedy", "gdzie", "kto", "что", "как", "почему", "когда", "где", "кто", "какой", "какие",
];

/// Prepositions after which the purpose of a comparison stands.
pub(super) const FOR: &[&str] = &[
    "for",
    "in",
    "on",
    "regarding",
    "concerning",
    "when",
    "für",
    "bei",
    "im",
    "beim",
    "pour",
    "dans",
    "para",
    "en",
    "per",
    "voor",
];

/// Prepositions between a property and its subject.
pub(super) const OF: &[&str] =
    &["of", "von", "des", "der", "vom", "de", "du", "d'", "del", "di", "della", "do", "da", "van", "av"];

/// Returns true if the list contains the word, in any case and without a comma or question mark after it.
pub(super) fn is_among(list: &[&str], word: &str) -> bool {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
    list.contains(&&*word)
}

/// Drops punctuation and white space around a phrase.
pub(super) fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace()
            || matches!(c, '?' | '.' | ',' | ';' | ':' | '!' | '？' | '。' | '，' | '；' | '：' | '¿' | '¡')
    })
}
