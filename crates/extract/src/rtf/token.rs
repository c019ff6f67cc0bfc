//! RTF tokenizer (specification 1.9.1, "RTF syntax").

/// A token. The parameter of a control word is limited to 32 bits.
#[derive(Debug, PartialEq)]
pub(super) enum Token<'a> {
    Open,
    Close,
    Word {
        name: &'a str,
        parameter: Option<i32>,
    },
    /// Control symbol such as `\~` or `\*`.
    Symbol(u8),
    /// `\'hh`: one byte in the current character set.
    Byte(u8),
    /// Bytes up to the next control.
    Text(&'a [u8]),
    /// Data of `\bin`.
    Binary,
}

pub(super) struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    fn control(&mut self) -> Token<'a> {
        let Some(&byte) = self.bytes.get(self.at) else { return Token::Symbol(b'\\') };
        if byte == b'\'' {
            let digits = self.bytes.get(self.at + 1..self.at + 3).and_then(|digits| std::str::from_utf8(digits).ok());
            return match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                Some(value) => {
                    self.at += 3;
                    Token::Byte(value)
                }
                None => {
                    self.at += 1;
                    Token::Symbol(b'\'')
                }
            };
        }
        if !byte.is_ascii_alphabetic() {
            self.at += 1;
            return Token::Symbol(byte);
        }
        let name = self.take_while(|byte| byte.is_ascii_alphabetic());
        let name = std::str::from_utf8(name).unwrap_or_default();
        let negative =
            self.bytes.get(self.at) == Some(&b'-') && self.bytes.get(self.at + 1).is_some_and(u8::is_ascii_digit);
        self.at += usize::from(negative);
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        let parameter = std::str::from_utf8(digits).ok().filter(|digits| !digits.is_empty());
        let parameter =
            parameter.map(|digits| digits.parse::<i32>().unwrap_or(i32::MAX)).map(|n| if negative { -n } else { n });
        // One space ends a control word and is part of it.
        if self.bytes.get(self.at) == Some(&b' ') {
            self.at += 1;
        }
        if name == "bin" {
            let length = usize::try_from(parameter.unwrap_or(0)).unwrap_or(0);
            self.at = self.at.saturating_add(length).min(self.bytes.len());
            return Token::Binary;
        }
        Token::Word { name, parameter }
    }

    fn take_while(&mut self, test: impl Fn(&u8) -> bool) -> &'a [u8] {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| !test(byte)).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        loop {
            let byte = *self.bytes.get(self.at)?;
            match byte {
                b'{' => {
                    self.at += 1;
                    return Some(Token::Open);
                }
                b'}' => {
                    self.at += 1;
                    return Some(Token::Close);
                }
                b'\\' => {
                    self.at += 1;
                    return Some(self.control());
                }
                // Line ends are insignificant.
                b'\r' | b'\n' | 0 => self.at += 1,
                _ => {
                    return Some(Token::Text(
                        self.take_while(|byte| !matches!(byte, b'{' | b'}' | b'\\' | b'\r' | b'\n' | 0)),
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_symbols_and_bytes_are_tokens() {
        let tokens: Vec<Token> = Tokens::new(b"{\\rtf1\\u-10 \\'e9\\~a b\r\n\\bin3 }}}c}").collect();
        assert_eq!(
            tokens,
            [
                Token::Open,
                Token::Word { name: "rtf", parameter: Some(1) },
                Token::Word { name: "u", parameter: Some(-10) },
                Token::Byte(0xe9),
                Token::Symbol(b'~'),
                Token::Text(b"a b"),
                Token::Binary,
                Token::Text(b"c"),
                Token::Close,
            ]
        );
    }

    #[test]
    fn truncated_input_terminates() {
        for input in [&b"\\"[..], b"\\'", b"\\'a", b"\\a-", b"\\bin99999999999", b"\\bin-5 x"] {
            assert!(Tokens::new(input).count() < 4);
        }
    }
}
