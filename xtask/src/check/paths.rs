//! Paths and imports of a Rust file, from its tokens.

use super::code::Token;
use std::collections::BTreeMap;

/// The paths that a file names, `use` declarations included.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Paths {
    pub used: Vec<Path>,
    /// Names that the file's imports bring into scope, with the path of each.
    pub imports: BTreeMap<String, Vec<String>>,
}

/// A path of two segments or more, or an imported one.
#[derive(Debug, PartialEq, Eq)]
pub struct Path {
    pub segments: Vec<String>,
    /// Of a `pub use`, which passes a name on without using it.
    pub reexport: bool,
}

/// Reads the paths of a file.
pub fn read(tokens: &[(Token, usize)]) -> Paths {
    let tokens: Vec<&Token> = tokens.iter().map(|(token, _)| token).collect();
    let mut paths = Paths::default();
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is_word("use") {
            let reexport = is_public(&tokens[..at]);
            at = paths.read_tree(&tokens, at + 1, &[], reexport);
        } else if tokens[at].word().is_some() && (at == 0 || *tokens[at - 1] != Token::PathSeparator) {
            let (segments, end) = segments(&tokens, at);
            if segments.len() > 1 {
                paths.used.push(Path { segments, reexport: false });
            }
            at = end;
        } else {
            at += 1;
        }
    }
    paths
}

/// Returns true where `before` ends with `pub` or `pub(...)`.
fn is_public(before: &[&Token]) -> bool {
    let last = before.last();
    if last.is_some_and(|token| **token == Token::Mark(')')) {
        let open = before.iter().rposition(|token| **token == Token::Mark('('));
        return open.is_some_and(|open| open > 0 && before[open - 1].is_word("pub"));
    }
    last.is_some_and(|token| token.is_word("pub"))
}

/// Returns the words from `at` that are joined by `::`, and the position after them.
fn segments(tokens: &[&Token], mut at: usize) -> (Vec<String>, usize) {
    let mut segments = Vec::new();
    while let Some(word) = tokens.get(at).and_then(|token| token.word()) {
        segments.push(word.to_owned());
        at += 1;
        let goes_on = tokens.get(at) == Some(&&Token::PathSeparator)
            && tokens.get(at + 1).is_some_and(|token| token.word().is_some());
        if !goes_on {
            break;
        }
        at += 1;
    }
    (segments, at)
}

impl Paths {
    /// Reads one tree of a `use` declaration below `prefix`, and returns the position after it.
    fn read_tree(&mut self, tokens: &[&Token], at: usize, prefix: &[String], reexport: bool) -> usize {
        let (own, mut at) = segments(tokens, at);
        let mut path = [prefix, &own].concat();
        if tokens.get(at) == Some(&&Token::PathSeparator) {
            at += 1;
        }
        match tokens.get(at) {
            Some(Token::Mark('{')) => {
                at += 1;
                while at < tokens.len() && *tokens[at] != Token::Mark('}') {
                    let end = self.read_tree(tokens, at, &path, reexport);
                    // Whatever is not a tree is passed over, so that the loop ends.
                    at = end.max(at + usize::from(end == at));
                    if tokens.get(at) == Some(&&Token::Mark(',')) {
                        at += 1;
                    }
                }
                return at + 1;
            }
            Some(Token::Mark('*')) => at += 1,
            _ => {
                if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
                    path.pop();
                }
                let mut name = path.last().cloned();
                if tokens.get(at).is_some_and(|token| token.is_word("as")) {
                    name = tokens.get(at + 1).and_then(|token| token.word()).map(str::to_owned);
                    at += 2;
                }
                if let Some(name) = name {
                    self.imports.insert(name, path.clone());
                }
            }
        }
        if !path.is_empty() {
            self.used.push(Path { segments: path, reexport });
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::{strip, tokens};
    use super::{Paths, read};

    fn paths(code: &str) -> Paths {
        read(&tokens(&strip(code)))
    }

    fn used(code: &str) -> Vec<String> {
        paths(code).used.iter().map(|path| path.segments.join("::")).collect()
    }

    #[test]
    fn nested_imports_are_read() {
        let code = "use a::{self, b::{C, D as E}, f::*}; use g;";
        assert_eq!(used(code), ["a", "a::b::C", "a::b::D", "a::f", "g"]);
        let imports: Vec<_> = paths(code).imports.into_iter().map(|(name, path)| (name, path.join("::"))).collect();
        let expected = [("C", "a::b::C"), ("E", "a::b::D"), ("a", "a"), ("g", "g")];
        assert_eq!(imports, expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
    }

    #[test]
    fn paths_in_expressions_and_types_are_read() {
        assert_eq!(
            used("fn f(a: super::A) { crate::b::c::<D>(); let e = 1; x::y!() }"),
            ["super::A", "crate::b::c", "x::y"]
        );
    }

    #[test]
    fn public_imports_are_reexports() {
        let reexports = |code| paths(code).used.iter().map(|path| path.reexport).collect::<Vec<_>>();
        assert_eq!(
            reexports("pub use a::B; pub(crate) use c::D; use e::F; pub fn f() {} use g::H;"),
            [true, true, false, false]
        );
    }

    #[test]
    fn unfinished_imports_end() {
        for code in ["use", "use a::", "use a::{", "use a::{b as", "use {;", "use a::{!}", "pub"] {
            paths(code);
        }
    }
}
