//! Tokenizer for text that was analyzed before: one term per line.
//!
//! The first line is the scope prefix, which is prepended to every term. An empty line skips a position, so that no phrase
//! crosses it. Terms contain no line breaks: analysis yields only letters, digits and a few other characters.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

/// Name under which [`LineTokenizer`] is registered.
pub const TOKENIZER: &str = "lines";

#[derive(Clone, Default)]
pub struct LineTokenizer {
    token: Token,
}

pub struct LineStream<'a> {
    lines: std::str::Split<'a, char>,
    prefix: &'a str,
    position: usize,
    token: &'a mut Token,
}

impl Tokenizer for LineTokenizer {
    type TokenStream<'a> = LineStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> LineStream<'a> {
        let mut lines = text.split('\n');
        let prefix = lines.next().unwrap_or_default();
        self.token.reset();
        LineStream { lines, prefix, position: 0, token: &mut self.token }
    }
}

impl TokenStream for LineStream<'_> {
    fn advance(&mut self) -> bool {
        for line in self.lines.by_ref() {
            if line.is_empty() {
                self.position += 1;
                continue;
            }
            self.token.text.clear();
            self.token.text.push_str(self.prefix);
            self.token.text.push_str(line);
            self.token.position = self.position;
            self.position += 1;
            return true;
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lines_skip_positions() {
        let mut tokenizer = LineTokenizer::default();
        let mut stream = tokenizer.token_stream("p:\na\nb\n\nc\n");
        let mut seen = Vec::new();
        while stream.advance() {
            seen.push((stream.token().text.clone(), stream.token().position));
        }
        assert_eq!(seen, [("p:a".to_owned(), 0), ("p:b".to_owned(), 1), ("p:c".to_owned(), 3)]);
        assert!(!tokenizer.token_stream("").advance());
    }
}
