//! Rust source as the textual rules read it: without comments, string contents and inline modules.

/// Replaces comments and the contents of string and character literals with spaces. Lines keep their numbers.
pub fn strip(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let end = end_of_skipped(&chars, at);
        if end == at {
            out.push(chars[at]);
            at += 1;
        } else {
            out.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
            at = end;
        }
    }
    out
}

/// Returns the end of the comment or literal that begins at `at`, or `at` when none does.
fn end_of_skipped(chars: &[char], at: usize) -> usize {
    let next = |offset: usize| chars.get(at + offset).copied();
    let after_identifier = at > 0 && is_identifier(chars[at - 1]);
    match chars[at] {
        '/' if next(1) == Some('/') => position(chars, at, |c| c == '\n'),
        '/' if next(1) == Some('*') => end_of_block_comment(chars, at),
        '"' => end_of_string(chars, at + 1),
        'r' if !after_identifier || matches!(chars[at - 1], 'b' | 'c') => end_of_raw_string(chars, at),
        '\'' if next(1) == Some('\\') => position(chars, at + 3, |c| c == '\'') + 1,
        '\'' if next(2) == Some('\'') => at + 3,
        _ => at,
    }
    .min(chars.len())
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let (mut at, mut depth) = (start, 0_usize);
    while at < chars.len() {
        match (chars[at], chars.get(at + 1)) {
            ('/', Some('*')) => (at, depth) = (at + 2, depth + 1),
            ('*', Some('/')) if depth == 1 => return at + 2,
            ('*', Some('/')) => (at, depth) = (at + 2, depth - 1),
            _ => at += 1,
        }
    }
    at
}

fn end_of_string(chars: &[char], mut at: usize) -> usize {
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// Returns the end of `r"..."` or `r#"..."#`, or `start` for a raw identifier or any other `r`.
fn end_of_raw_string(chars: &[char], start: usize) -> usize {
    let quote = position(chars, start + 1, |c| c != '#');
    if chars.get(quote) != Some(&'"') {
        return start;
    }
    let hashes = quote - start - 1;
    let closes = |at: usize| {
        chars[at] == '"' && chars.get(at + 1..=at + hashes).is_some_and(|tail| tail.iter().all(|c| *c == '#'))
    };
    (quote + 1..chars.len()).find(|at| closes(*at)).map_or(chars.len(), |at| at + 1 + hashes)
}

fn position(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|at| wanted(chars[*at])).unwrap_or(chars.len())
}

/// A token of stripped source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    Word(String),
    /// `::`
    PathSeparator,
    Mark(char),
}

impl Token {
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Self::Word(own) if own == word)
    }

    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::PathSeparator | Self::Mark(_) => None,
        }
    }
}

/// Splits stripped source into tokens with their line numbers. Inline modules (`mod name { ... }`), such as unit tests,
/// are left out.
pub fn tokens(stripped: &str) -> Vec<(Token, usize)> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut chars = stripped.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\n' {
            line += 1;
        } else if is_identifier(c) {
            let mut word = String::from(c);
            while let Some(more) = chars.next_if(|c| is_identifier(*c)) {
                word.push(more);
            }
            tokens.push((Token::Word(word), line));
        } else if c == ':' && chars.next_if_eq(&':').is_some() {
            tokens.push((Token::PathSeparator, line));
        } else if !c.is_whitespace() {
            tokens.push((Token::Mark(c), line));
        }
    }
    without_inline_modules(&tokens)
}

fn without_inline_modules(tokens: &[(Token, usize)]) -> Vec<(Token, usize)> {
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        let opens = tokens[at].0.is_word("mod")
            && matches!(tokens.get(at + 1), Some((Token::Word(_), _)))
            && matches!(tokens.get(at + 2), Some((Token::Mark('{'), _)));
        if opens {
            at = end_of_block(tokens, at + 2);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// Returns the position after the brace that closes the one at `open`.
fn end_of_block(tokens: &[(Token, usize)], open: usize) -> usize {
    let mut depth = 0_usize;
    for (offset, (token, _)) in tokens[open..].iter().enumerate() {
        match token {
            Token::Mark('{') => depth += 1,
            Token::Mark('}') if depth == 1 => return open + offset + 1,
            Token::Mark('}') => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

fn is_identifier(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::{strip, tokens};

    fn words(text: &str) -> Vec<String> {
        tokens(&strip(text)).iter().filter_map(|(token, _)| token.word().map(str::to_owned)).collect()
    }

    #[test]
    fn comments_and_literals_are_removed() {
        assert_eq!(words("a // b\n/* c /* d */ e */ f"), ["a", "f"]);
        assert_eq!(words(r###"a("b \" c", r#"d " e"#, br"f", 'g', '\'', '"', h)"###), ["a", "b", "h"]);
    }

    #[test]
    fn lifetimes_and_raw_identifiers_stay() {
        assert_eq!(words("fn a<'b>(c: &'b str, r#type: Kind)"), ["fn", "a", "b", "c", "b", "str", "r", "type", "Kind"]);
    }

    #[test]
    fn inline_modules_are_left_out() {
        assert_eq!(words("a mod tests { use b; fn c() {} } d mod e; f"), ["a", "d", "mod", "e", "f"]);
    }

    #[test]
    fn lines_keep_their_numbers() {
        let lines: Vec<usize> = tokens(&strip("a\n/*\n*/ b\n\"\n\" c")).iter().map(|(_, line)| *line).collect();
        assert_eq!(lines, [1, 3, 5]);
    }

    #[test]
    fn unfinished_source_ends() {
        for text in ["\"a", "/* a", "r#\"a", "'\\", "mod a {", "a::", "'", "r", "\\"] {
            words(text);
        }
    }
}
