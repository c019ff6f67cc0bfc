//! Yes and no in sentences.

use std::collections::BTreeSet;

use retrieval_core::analysis::Language;
use serde_json::Value;

/// Negations of one language in lowercase.
struct Negations {
    language: Language,
    words: &'static [&'static str],
    /// Negations of other languages that are ordinary words of this one.
    ordinary: &'static [&'static str],
}

/// Languages whose sentences can say yes: without a list, no sentence is known to be free of negations. Words that
/// other listed languages use as often for something else are left out.
#[rustfmt::skip]
const LANGUAGES: &[Negations] = &[
    Negations {
        language: Language::English,
        words: &["not", "no", "never", "without", "cannot", "neither", "nor", "none", "non", "nothing", "n't", "isnt", "arent", "doesnt", "dont", "cant", "wont"],
        ordinary: &["sin"],
    },
    Negations {
        language: Language::German,
        words: &["nicht", "nichts", "kein", "keine", "keinem", "keinen", "keiner", "keines", "keinerlei", "ohne", "nie", "niemals", "niemand", "weder", "nein"],
        ordinary: &[],
    },
    Negations {
        language: Language::French,
        words: &["ne", "non", "pas", "jamais", "sans", "ni", "aucun", "aucune", "rien", "n'"],
        ordinary: &[],
    },
    Negations {
        language: Language::Spanish,
        words: &["no", "nunca", "jamás", "sin", "ni", "ningún", "ninguna", "ninguno", "nada", "tampoco"],
        ordinary: &[],
    },
    Negations {
        language: Language::Italian,
        words: &["non", "no", "senza", "né", "nessun", "nessuna", "nessuno", "nulla", "niente", "nemmeno", "neppure"],
        ordinary: &["ne", "sin"],
    },
    Negations {
        language: Language::Portuguese,
        words: &["não", "nao", "nem", "sem", "nunca", "jamais", "nenhum", "nenhuma", "nada", "tampouco"],
        ordinary: &["no"],
    },
    Negations {
        language: Language::Dutch,
        words: &["niet", "niets", "geen", "nooit", "zonder", "nergens", "niemand"],
        ordinary: &[],
    },
    Negations {
        language: Language::Swedish,
        words: &["inte", "ej", "icke", "aldrig", "utan", "ingen", "inget", "inga", "ingenting", "varken"],
        ordinary: &["ni", "sin"],
    },
    Negations {
        language: Language::Danish,
        words: &["ikke", "ej", "aldrig", "uden", "ingen", "intet", "hverken", "nej"],
        ordinary: &["ni", "sin"],
    },
    Negations {
        language: Language::Norwegian,
        words: &["ikke", "ikkje", "aldri", "uten", "ingen", "intet", "ingenting", "verken", "hverken", "nei"],
        ordinary: &["ni", "sin"],
    },
    Negations {
        language: Language::Russian,
        words: &["не", "ни", "нет", "без", "никогда", "нельзя", "ничего"],
        ordinary: &[],
    },
    Negations {
        language: Language::Ukrainian,
        words: &["не", "ні", "немає", "без", "ніколи"],
        ordinary: &[],
    },
];

/// Words that deny by their meaning. What they deny is not always what a field asks for.
const DENIALS: &[&str] = &[
    "forbidden",
    "prohibited",
    "banned",
    "disallowed",
    "unavailable",
    "unsupported",
    "verboten",
    "untersagt",
    "interdit",
    "interdite",
    "interdits",
    "interdites",
    "prohibido",
    "prohibida",
    "prohibidos",
    "prohibidas",
    "proibido",
    "proibida",
    "proibidos",
    "proibidas",
    "vietato",
    "vietata",
    "vietati",
    "vietate",
    "verboden",
    "förbjudet",
    "förbjuden",
    "förbjudna",
    "forbudt",
    "запрещено",
    "запрещен",
    "запрещён",
    "запрещена",
    "запрещены",
    "заборонено",
];

/// Returns what a sentence says about a field of this name: null if it may say both, `None` if it cannot be read.
///
/// `language`: ISO 639-1 code of the sentence. In an unlisted one nothing is read, in an unknown one only a negation.
pub(super) fn answer_in(text: &str, language: Option<&str>, name: &str) -> Option<Value> {
    let (words, name) = (words(text), words(name));
    let is_denied = DENIALS.iter().any(|denial| words.contains(*denial) && !name.contains(*denial));
    if is_denied || has_negation(&name, &[]) {
        return Some(Value::Null);
    }
    match (listed(language), language.and_then(Language::from_code)) {
        (Some(own), _) if own.words.iter().any(|word| words.contains(*word)) => Some(Value::Bool(false)),
        // A negation of another language can be that of a sentence in another language than its page.
        (Some(own), _) if has_negation(&words, own.ordinary) => Some(Value::Null),
        (Some(_), _) => Some(Value::Bool(true)),
        (None, Some(_)) => None,
        (None, None) => has_negation(&words, &[]).then_some(Value::Bool(false)),
    }
}

/// Returns true for a text with a negation, or with a word such as `forbidden`.
///
/// `language`: ISO 639-1 code of the text.
pub(super) fn denies(text: &str, language: Option<&str>) -> bool {
    let words = words(text);
    let ordinary: &[&str] = if let Some(own) = listed(language) { own.ordinary } else { &[] };
    DENIALS.iter().any(|denial| words.contains(*denial)) || has_negation(&words, ordinary)
}

fn listed(language: Option<&str>) -> Option<&'static Negations> {
    let language = Language::from_code(language?)?;
    LANGUAGES.iter().find(|listed| listed.language == language)
}

/// Returns true if there is a negation of any language that is not an ordinary word.
fn has_negation(words: &BTreeSet<String>, ordinary: &[&str]) -> bool {
    let mut negations = LANGUAGES.iter().flat_map(|listed| listed.words);
    negations.any(|word| words.contains(*word) && !ordinary.contains(word))
}

/// Returns the words of a text in lowercase, with `n't` and `n'` for the English and French contractions.
fn words(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase().replace(['’', 'ʼ'], "'");
    let mut words: BTreeSet<String> = text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect();
    if text.contains("n't") {
        words.insert("n't".to_owned());
    }
    if text.starts_with("n'") || text.contains(" n'") {
        words.insert("n'".to_owned());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn yes_is_read_in_listed_languages_only() {
        for (language, text, expected) in [
            (Some("en"), "It is waterproof.", Some(json!(true))),
            (Some("en"), "It is not waterproof.", Some(json!(false))),
            (Some("en-GB"), "It isn’t waterproof.", Some(json!(false))),
            (Some("en"), "It doesn't leak.", Some(json!(false))),
            (Some("en"), "USB sticks are forbidden.", Some(Value::Null)),
            (Some("de"), "Die Pumpe ist wasserdicht.", Some(json!(true))),
            (Some("de"), "Sie ist für keinen Regen gemacht.", Some(json!(false))),
            (Some("de"), "The pump is not waterproof.", Some(Value::Null)),
            (Some("fr"), "Le vélo n'est plus pliable.", Some(json!(false))),
            (Some("pt"), "O produto Zeta não é impermeável.", Some(json!(false))),
            (Some("pt"), "É impermeável no uso normal.", Some(json!(true))),
            (Some("nl"), "De pomp Kappa is niet waterdicht.", Some(json!(false))),
            (Some("sv"), "Pumpen Sigma är inte vattentät.", Some(json!(false))),
            (Some("da"), "Pumpen bruger sin motor i ni timer.", Some(json!(true))),
            (Some("ru"), "Насос Омега не является водонепроницаемым.", Some(json!(false))),
            (Some("ja"), "イプシロンポンプは防水ではありません。", None),
            (Some("ja"), "イプシロンポンプは防水です。", None),
            (None, "It is waterproof.", None),
            (None, "It is not waterproof.", Some(json!(false))),
        ] {
            assert_eq!(answer_in(text, language, "waterproof"), expected, "{text}");
        }
    }

    #[test]
    fn field_that_denies_is_read_as_it_is_named() {
        let text = "Smoking is forbidden near the drill.";
        assert_eq!(answer_in(text, Some("en"), "smoking forbidden"), Some(json!(true)));
        assert_eq!(answer_in(text, Some("en"), "smoking allowed"), Some(Value::Null));
        assert_eq!(answer_in("It is not waterproof.", Some("en"), "not waterproof"), Some(Value::Null));
    }

    #[test]
    fn negations_and_words_of_denial_deny() {
        for (language, text, expected) in [
            (Some("en"), "The drill Rho is not available in red.", true),
            (Some("en"), "Red is unavailable.", true),
            (Some("en"), "The drill Rho is available in red.", false),
            (Some("pl"), "Nie jest czerwony.", true),
            (Some("pt"), "Vermelho no Brasil.", false),
            (None, "Lamp A,19.90,1.2,red", false),
            (None, "", false),
        ] {
            assert_eq!(denies(text, language), expected, "{text}");
        }
    }
}
