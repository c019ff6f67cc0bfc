//! Comparisons, and pairs of opposites.

use super::marks::{AND, BETWEEN_NAMES, FOR, bare, is_among};

/// Phrases before the things compared: `compare A and B`, `difference between A and B`.
const OPENINGS: &[&str] = &[
    "compare",
    "comparison of",
    "comparison between",
    "contrast",
    "difference between",
    "differences between",
    "vergleiche",
    "vergleich von",
    "vergleich zwischen",
    "unterschied zwischen",
    "unterschiede zwischen",
    "différence entre",
    "différences entre",
    "compare",
    "comparer",
    "comparaison entre",
    "diferencia entre",
    "diferencias entre",
    "compara",
    "comparar",
    "differenza tra",
    "differenze tra",
    "diferença entre",
    "diferenças entre",
    "verschil tussen",
    "verschillen tussen",
    "skillnaden mellan",
    "разница между",
    "różnica między",
];

/// Words between the things compared.
const VERSUS: &[&str] = &["vs", "vs.", "versus", "gegen", "contra"];

/// Words between the things compared, after an opening.
const WITH: &[&str] = &["with", "to", "mit", "avec", "con", "com", "met", "between", "against"];

/// Pairs of opposites with a subject after a preposition, and each half alone.
const OPPOSITES: &[(&str, &str, &str)] = &[
    ("pros and cons of", "advantages of", "disadvantages of"),
    ("pros & cons of", "advantages of", "disadvantages of"),
    ("advantages and disadvantages of", "advantages of", "disadvantages of"),
    ("benefits and risks of", "benefits of", "risks of"),
    ("risks and benefits of", "risks of", "benefits of"),
    ("benefits and drawbacks of", "benefits of", "drawbacks of"),
    ("strengths and weaknesses of", "strengths of", "weaknesses of"),
    ("causes and effects of", "causes of", "effects of"),
    ("vor- und nachteile von", "vorteile von", "nachteile von"),
    ("vor- und nachteile der", "vorteile der", "nachteile der"),
    ("vor- und nachteile des", "vorteile des", "nachteile des"),
    ("vorteile und nachteile von", "vorteile von", "nachteile von"),
    ("avantages et inconvénients de", "avantages de", "inconvénients de"),
    ("avantages et les inconvénients de", "avantages de", "inconvénients de"),
    ("ventajas y desventajas de", "ventajas de", "desventajas de"),
    ("ventajas e inconvenientes de", "ventajas de", "inconvenientes de"),
    ("vantaggi e svantaggi di", "vantaggi di", "svantaggi di"),
    ("vantagens e desvantagens de", "vantagens de", "desvantagens de"),
    ("voor- en nadelen van", "voordelen van", "nadelen van"),
];

/// Longest name of a thing compared, in words. A longer one is a clause.
const MAX_NAME_WORDS: usize = 8;

/// Returns the parts of a comparison and the whole, or of a pair of opposites. Empty if the question is neither.
pub(super) fn parts(question: &str) -> Vec<String> {
    if let Some(halves) = opposites(question) {
        return halves;
    }
    let words: Vec<&str> = question.split_whitespace().collect();
    let Some(names) = versus(&words).or_else(|| opened(question)) else { return Vec::new() };
    let mut parts = names;
    parts.push(question.to_owned());
    parts
}

/// Splits `A vs B for C` into `A for C` and `B for C`.
fn versus(words: &[&str]) -> Option<Vec<String>> {
    let is_versus = |word: &str| VERSUS.contains(&&*word.to_lowercase());
    // `gegen` also means `against`: alone between two names only.
    let soft = |word: &str| is_among(&["gegen", "contra"], word);
    let count = words.iter().filter(|word| is_versus(word)).count();
    let two_names = words.len() <= 5;
    if count == 0 || (words.iter().any(|word| soft(word)) && !two_names) {
        return None;
    }
    let mut names: Vec<&[&str]> = words.split(|word| is_versus(word)).collect();
    // `Is A faster than B vs C`: the words before the first name are unknown, so a long one is not a name.
    if let Some(first) = names.first_mut() {
        *first = after_opening(first);
    }
    named(&names)
}

/// Splits `difference between A and B in C`.
fn opened(question: &str) -> Option<Vec<String>> {
    let lower = question.to_lowercase();
    // Lowercase of other lengths cannot be mapped back.
    if lower.len() != question.len() {
        return None;
    }
    let opening = |opening: &&str| {
        let at = lower.find(*opening)?;
        let whole = lower[..at].chars().next_back().is_none_or(char::is_whitespace);
        let rest = question.get(at + opening.len()..)?;
        (whole && rest.starts_with(' ')).then_some(rest)
    };
    let rest = bare(OPENINGS.iter().find_map(opening)?);
    let separated: Vec<&str> = rest.split_whitespace().collect();
    let last_of = |list: &[&str]| separated.iter().rposition(|word| is_among(list, word));
    let with = || separated.iter().position(|word| is_among(WITH, word));
    let at = last_of(AND).or_else(with).or_else(|| last_of(BETWEEN_NAMES))?;
    let (before, after) = (&separated[..at], &separated[at + 1..]);
    let listed = before.join(" ");
    let mut names: Vec<Vec<&str>> = listed.split(',').map(|name| name.split_whitespace().collect()).collect();
    names.push(after.to_vec());
    let names: Vec<&[&str]> = names.iter().map(Vec::as_slice).collect();
    named(&names)
}

/// Returns each name with the purpose that follows the last one.
fn named(names: &[&[&str]]) -> Option<Vec<String>> {
    let last = names.last()?;
    let purpose = last.iter().skip(1).position(|word| is_among(FOR, word)).map_or(last.len(), |at| at + 1);
    let tail = bare(&last[purpose..].join(" ")).to_owned();
    let mut parts = Vec::new();
    for name in names {
        let length = if name == last { purpose } else { name.len() };
        let name = bare(&name[..length].join(" ")).to_owned();
        if name.is_empty() || name.split(' ').count() > MAX_NAME_WORDS {
            return None;
        }
        parts.push(if tail.is_empty() { name } else { format!("{name} {tail}") });
    }
    (parts.len() >= 2).then_some(parts)
}

fn after_opening<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let opens =
        |word: &&str| is_among(&["compare", "comparing", "vergleiche", "comparer", "comparar", "between"], word);
    words.iter().rposition(opens).map_or(words, |at| &words[at + 1..])
}

fn opposites(question: &str) -> Option<Vec<String>> {
    let lower = question.to_lowercase();
    if lower.len() != question.len() {
        return None;
    }
    OPPOSITES.iter().find_map(|(pair, one, other)| {
        let subject = bare(question.get(lower.find(pair)? + pair.len()..)?);
        let half = |half: &str| {
            let mut letters = half.chars();
            let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
            format!("{first}{} {subject}", letters.as_str())
        };
        (!subject.is_empty()).then(|| vec![half(one), half(other)])
    })
}
