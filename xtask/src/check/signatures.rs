//! Public signatures use the domain's types: no bare `Uuid` and no time as `i64`.

use super::code::Token;
use super::ratchet::Places;
use super::sources::Source;
use super::{Breach, allowed};

/// Crates whose public functions and fields are checked.
const CHECKED: &[&str] = &["app", "docstore", "engine", "ingest"];

/// Types without meaning that `model` has named types for.
const BARE_IDS: &[&str] = &["Id", "Uuid"];

const CURE: &str = "use the type of `model`: `DocId`, `OrganizationId`, ..., or `Timestamp`";

/// Finds bare ids and times in the public functions and fields of the checked crates.
pub fn check(sources: &[Source]) -> Vec<Breach> {
    let mut places = Places::default();
    for source in sources.iter().filter(|source| CHECKED.contains(&source.krate.as_str())) {
        for (line, name) in faults(&source.tokens()) {
            places.add(&source.krate, format!("{}:{line} {name}", source.file));
        }
    }
    places.beyond(allowed::SIGNATURES, CURE)
}

/// Returns the names of public functions and fields that have such a type, with their lines.
fn faults(tokens: &[(Token, usize)]) -> Vec<(usize, String)> {
    let mut faults = Vec::new();
    for (at, (_, line)) in tokens.iter().enumerate().filter(|(_, (token, _))| token.is_word("pub")) {
        let Some((name, signature)) = function(tokens, at + 1).or_else(|| field(tokens, at + 1)) else { continue };
        if has_bare_type(signature) {
            faults.push((*line, name.to_owned()));
        }
    }
    faults
}

type Named<'a> = (&'a str, &'a [(Token, usize)]);

/// Returns the name and the signature of the function that begins at `at`, after `pub`.
fn function(tokens: &[(Token, usize)], mut at: usize) -> Option<Named<'_>> {
    while ["async", "const", "unsafe"].iter().any(|word| tokens.get(at).is_some_and(|token| token.0.is_word(word))) {
        at += 1;
    }
    if !tokens.get(at)?.0.is_word("fn") {
        return None;
    }
    let name = tokens.get(at + 1)?.0.word()?;
    let length = tokens[at..].iter().position(|(token, _)| matches!(token, Token::Mark('{' | ';')))?;
    Some((name, &tokens[at..at + length]))
}

/// Returns the name and the declaration of the field that begins at `at`, after `pub`.
fn field(tokens: &[(Token, usize)], at: usize) -> Option<Named<'_>> {
    let name = tokens.get(at)?.0.word()?;
    if tokens.get(at + 1)?.0 != Token::Mark(':') {
        return None;
    }
    let mut depth = 0_usize;
    let length = tokens[at..].iter().position(|(token, _)| match token {
        Token::Mark(',' | '}') if depth == 0 => true,
        Token::Mark('<' | '(' | '[') => {
            depth += 1;
            false
        }
        Token::Mark('>' | ')' | ']') => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => false,
    })?;
    Some((name, &tokens[at..at + length]))
}

fn has_bare_type(signature: &[(Token, usize)]) -> bool {
    signature.iter().enumerate().any(|(at, (token, _))| match token.word() {
        Some(word) if BARE_IDS.contains(&word) => true,
        Some("i64") => declared_name(&signature[..at]).is_some_and(is_time),
        _ => false,
    })
}

/// Returns the name whose type the end of `tokens` belongs to: the word before the last single colon.
fn declared_name(tokens: &[(Token, usize)]) -> Option<&str> {
    let colon = tokens.iter().rposition(|(token, _)| *token == Token::Mark(':'))?;
    tokens[..colon].last()?.0.word()
}

fn is_time(name: &str) -> bool {
    matches!(name, "now" | "at" | "since" | "until" | "before" | "after" | "cutoff" | "deadline")
        || ["_at", "_ms", "_until", "_since", "_before", "_after"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::super::code::{strip, tokens};
    use super::faults;

    fn found(code: &str) -> Vec<String> {
        faults(&tokens(&strip(code))).into_iter().map(|(_, name)| name).collect()
    }

    #[test]
    fn bare_ids_and_times_are_found_in_functions_and_fields() {
        let code = "pub async fn a(&self, id: Uuid) -> T { }
                    pub fn b() -> Option<Id>;
                    pub struct C { pub d: Vec<(Uuid, i64)>, pub created_at: i64, pub e: Option<String> }
                    pub fn f(now: i64) {}";
        assert_eq!(found(code), ["a", "b", "d", "created_at", "f"]);
    }

    #[test]
    fn private_items_counts_and_named_types_hold() {
        let code = "fn a(id: Uuid) {} pub(crate) fn b(id: Uuid) {} pub struct C { d: Uuid, pub cents: i64 }
                    pub fn e(id: DocId, now: Timestamp, bytes: i64) -> f64 { let id: Uuid = x; } pub use uuid::Uuid;";
        assert_eq!(found(code), Vec::<String>::new());
    }
}
