//! Parser for format codes.

use std::iter::Peekable;
use std::str::Chars;

/// Maximum length of a format code in characters, as in Excel.
const MAX_CODE: usize = 255;
/// Maximum number of sections: positive, negative, zero, text.
const MAX_SECTIONS: usize = 4;

/// Placeholder for a digit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Digit {
    /// `0`: shows a zero if there is no digit.
    Zero,
    /// `#`: shows nothing.
    None,
    /// `?`: shows a space.
    Space,
}

/// Unit of a duration or time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Hour,
    Minute,
    Second,
}

/// Part of a section.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Literal(String),
    Digit(Digit),
    /// `1` to `9`: a literal, or part of the denominator of a fraction.
    Figure(char),
    Point,
    Comma,
    Percent,
    Slash,
    /// `E+` or `E-`. With `E+` also exponents that are not negative have a sign.
    Exponent {
        plus: bool,
    },
    /// `@`.
    Text,
    General,
    /// Day, month or year.
    Calendar,
    /// `m` or `mm`: month, or minute beside an hour or second.
    MonthOrMinute(usize),
    /// Part of a time of day, with its least number of digits.
    Time(Unit, usize),
    /// Whole duration in a unit, with its least number of digits.
    Elapsed(Unit, usize),
    /// Texts for the morning and the afternoon.
    HalfDay(&'static str, &'static str),
}

impl Token {
    /// Returns the text that the token shows where it has no meaning.
    pub(super) fn literal(&self) -> String {
        match self {
            Self::Literal(text) => text.clone(),
            Self::Figure(figure) => figure.to_string(),
            Self::Point => ".".into(),
            Self::Comma => ",".into(),
            Self::Percent => "%".into(),
            Self::Slash => "/".into(),
            _ => String::new(),
        }
    }

    pub(super) fn is_digit(&self) -> bool {
        matches!(self, Self::Digit(_))
    }
}

/// Comparison of the value with a number, such as `[>=100]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Condition {
    pub(super) operator: Operator,
    pub(super) limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    AtMost,
    Equal,
    NotEqual,
    AtLeast,
    Greater,
}

/// Tokens of a section, and its condition.
#[derive(Debug, Default)]
pub(super) struct Parsed {
    pub(super) tokens: Vec<Token>,
    pub(super) condition: Option<Condition>,
}

impl Parsed {
    /// Appends a literal. An empty one is kept if the section has no other token: the section shows nothing, and not the
    /// plain number.
    fn literal(&mut self, text: &str) {
        match self.tokens.last_mut() {
            Some(Token::Literal(last)) => last.push_str(text),
            Some(_) if text.is_empty() => {}
            _ => self.tokens.push(Token::Literal(text.to_owned())),
        }
    }
}

/// Returns the sections of a format code. Returns `None` for a malformed code.
pub(super) fn sections(code: &str) -> Option<Vec<Parsed>> {
    // A space at the end may belong to a mark before it, as in `0_ `.
    let code = code.trim_start();
    if code.is_empty() || code.chars().nth(MAX_CODE).is_some() {
        return None;
    }
    let mut sections = vec![Parsed::default()];
    let mut rest = code.chars().peekable();
    while let Some(c) = rest.next() {
        if c == ';' {
            sections.push(Parsed::default());
            continue;
        }
        token(c, &mut rest, sections.last_mut()?)?;
    }
    // A code of colours alone shows the plain number.
    let empty = matches!(sections.as_slice(), [only] if only.tokens.is_empty());
    (sections.len() <= MAX_SECTIONS && !empty).then_some(sections)
}

/// Parses the token that begins with `c`.
fn token(c: char, rest: &mut Peekable<Chars>, section: &mut Parsed) -> Option<()> {
    let token = match c {
        '0' => Token::Digit(Digit::Zero),
        '#' => Token::Digit(Digit::None),
        '?' => Token::Digit(Digit::Space),
        '1'..='9' => Token::Figure(c),
        '.' => Token::Point,
        ',' => Token::Comma,
        '%' => Token::Percent,
        '/' => Token::Slash,
        '@' => Token::Text,
        '"' => {
            section.literal(&until('"', rest)?);
            return Some(());
        }
        '\\' => {
            section.literal(rest.next()?.encode_utf8(&mut [0; 4]));
            return Some(());
        }
        // A space as wide as the next character.
        '_' => {
            rest.next()?;
            section.literal(" ");
            return Some(());
        }
        // The next character fills the width of the column.
        '*' => {
            rest.next()?;
            return Some(());
        }
        '[' => return bracket(&until(']', rest)?, section),
        'E' | 'e' if matches!(rest.peek(), Some('+' | '-')) => Token::Exponent { plus: rest.next() == Some('+') },
        'G' | 'g' if take(rest, "eneral") => Token::General,
        'A' | 'a' if take(rest, "m/pm") => Token::HalfDay("AM", "PM"),
        'A' | 'a' if take(rest, "/p") => Token::HalfDay("A", "P"),
        // Names of weekdays.
        'A' | 'a' if may_be_date(section) && take(rest, "aa") => {
            width(c, rest);
            Token::Calendar
        }
        // Year of an era, and the name of the era before it.
        'E' | 'e' if may_be_date(section) => {
            width(c, rest);
            Token::Calendar
        }
        'G' | 'g' if may_be_date(section) && begins_era(rest) => {
            width(c, rest);
            Token::Calendar
        }
        '上' if take(rest, "午/下午") => Token::HalfDay("上午", "下午"),
        'y' | 'Y' | 'd' | 'D' | 'm' | 'M' | 'h' | 'H' | 's' | 'S' => {
            let width = width(c, rest);
            match c.to_ascii_lowercase() {
                'h' => Token::Time(Unit::Hour, width),
                's' => Token::Time(Unit::Second, width),
                // Longer ones are names of months.
                'm' if width <= 2 => Token::MonthOrMinute(width),
                _ => Token::Calendar,
            }
        }
        c => {
            section.literal(c.encode_utf8(&mut [0; 4]));
            return Some(());
        }
    };
    section.tokens.push(token);
    Some(())
}

/// Takes the repetitions of a letter, in either case. Returns their number with the first.
fn width(letter: char, rest: &mut Peekable<Chars>) -> usize {
    let mut width = 1;
    while rest.next_if(|next| next.eq_ignore_ascii_case(&letter)).is_some() {
        width += 1;
    }
    width
}

/// Returns false if the next letter is one of a unit or word that the file does not quote, as in `0 Liter`.
fn may_be_date(section: &Parsed) -> bool {
    let in_word = match section.tokens.last() {
        Some(Token::Literal(text)) => text.ends_with(|c: char| c.is_ascii_alphabetic()),
        _ => false,
    };
    !in_word && !section.tokens.iter().any(Token::is_digit)
}

/// Returns true before `e`, `ge` and `gge`.
fn begins_era(rest: &Peekable<Chars>) -> bool {
    let mut ahead = rest.clone();
    width('g', &mut ahead);
    matches!(ahead.peek(), Some('e' | 'E'))
}

/// Takes the text up to a closing mark. Returns `None` if it is missing.
fn until(close: char, rest: &mut Peekable<Chars>) -> Option<String> {
    let mut text = String::new();
    loop {
        match rest.next()? {
            c if c == close => return Some(text),
            c => text.push(c),
        }
    }
}

/// Takes the text if it is next, in either case.
fn take(rest: &mut Peekable<Chars>, text: &str) -> bool {
    let mut ahead = rest.clone();
    let found = text.chars().all(|c| ahead.next().is_some_and(|next| next.to_ascii_lowercase() == c));
    if found {
        *rest = ahead;
    }
    found
}

/// Parses the content of brackets: a currency, a condition or a duration. Colours, languages and numeral systems show
/// nothing. Returns `None` for a malformed condition.
fn bracket(content: &str, section: &mut Parsed) -> Option<()> {
    if let Some(currency) = content.strip_prefix('$') {
        let symbol = currency.split_once('-').map_or(currency, |(symbol, _)| symbol);
        // Languages alone, as in `[$-409]`, are no text.
        if !symbol.is_empty() {
            section.literal(symbol);
        }
    } else if content.starts_with(['<', '>', '=']) {
        section.condition = Some(condition(content)?);
    } else if let Some(unit) = content.chars().next().and_then(unit_of)
        && content.chars().all(|c| unit_of(c) == Some(unit))
    {
        section.tokens.push(Token::Elapsed(unit, content.len()));
    }
    Some(())
}

fn unit_of(c: char) -> Option<Unit> {
    match c.to_ascii_lowercase() {
        'h' => Some(Unit::Hour),
        'm' => Some(Unit::Minute),
        's' => Some(Unit::Second),
        _ => None,
    }
}

fn condition(content: &str) -> Option<Condition> {
    let operators = [
        ("<>", Operator::NotEqual),
        ("<=", Operator::AtMost),
        (">=", Operator::AtLeast),
        ("<", Operator::Less),
        (">", Operator::Greater),
        ("=", Operator::Equal),
    ];
    let (limit, operator) =
        operators.iter().find_map(|(sign, operator)| Some((content.strip_prefix(sign)?, *operator)))?;
    Some(Condition { operator, limit: limit.trim().parse().ok()? })
}
