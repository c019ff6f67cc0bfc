//! Numbers in digit placeholders: `#,##0.00`, `0.0%`, `000-00-0000`, `0.00E+00`.

use super::decimal::Decimal;
use super::parse::{Digit, Token};

/// Digits between two thousands separators.
const GROUP: usize = 3;

/// Section with digit placeholders.
#[derive(Debug)]
pub(super) struct Pattern {
    number: Vec<Token>,
    /// Power of ten that the value is multiplied by: percent signs, and commas behind the digits.
    scale: i32,
    grouped: bool,
    exponent: Option<Exponent>,
}

/// Exponent of scientific notation.
#[derive(Debug)]
struct Exponent {
    plus: bool,
    /// Minimum number of digits.
    width: usize,
    /// Tokens behind the exponent.
    rest: Vec<Token>,
}

impl Pattern {
    pub(super) fn new(tokens: &[Token]) -> Self {
        let first = tokens.iter().position(Token::is_digit).unwrap_or(tokens.len());
        let split = tokens.iter().position(|token| matches!(token, Token::Exponent { .. })).filter(|at| *at > first);
        let (number, exponent) = match split.and_then(|at| tokens.split_at_checked(at)) {
            Some((number, [Token::Exponent { plus }, rest @ ..])) => {
                let width = rest.iter().take_while(|token| token.is_digit()).count();
                let rest = rest.get(width..).unwrap_or_default().to_vec();
                (number, Some(Exponent { plus: *plus, width, rest }))
            }
            _ => (tokens, None),
        };
        let mut pattern = Self { number: Vec::with_capacity(number.len()), scale: 0, grouped: false, exponent };
        for (at, token) in number.iter().enumerate() {
            match token {
                Token::Comma => pattern.comma(number, at),
                Token::Percent => {
                    pattern.scale += 2;
                    pattern.number.push(token.clone());
                }
                // A second point is a literal.
                Token::Point if pattern.number.contains(&Token::Point) => {
                    pattern.number.push(Token::Literal(".".into()));
                }
                _ => pattern.number.push(token.clone()),
            }
        }
        pattern
    }

    /// Reads a comma: a thousands separator between digits, a division by 1,000 behind them, or a literal.
    fn comma(&mut self, number: &[Token], at: usize) {
        let (before, after) = (number.get(..at).unwrap_or_default(), number.get(at + 1..).unwrap_or_default());
        let mut ahead = after.iter().skip_while(|token| **token == Token::Comma);
        let follows = before.iter().rev().find(|token| **token != Token::Comma).is_some_and(Token::is_digit);
        let behind_point = before.contains(&Token::Point);
        let digits_follow = after.iter().take_while(|token| **token != Token::Point).any(Token::is_digit);
        if !before.iter().any(Token::is_digit) {
            self.number.push(Token::Literal(",".into()));
        } else if digits_follow {
            self.grouped |= !behind_point;
        } else if follows && ahead.next().is_none_or(|token| !token.is_digit()) {
            self.scale -= 3;
        } else {
            self.number.push(Token::Literal(",".into()));
        }
    }

    /// Returns the absolute value as the placeholders show it.
    pub(super) fn shown(&self, value: f64) -> String {
        let mut decimal = Decimal::new(value);
        decimal.shift(self.scale);
        let places = self.digits_behind_point().count();
        let mut out = String::new();
        match &self.exponent {
            None => {
                decimal.round(places);
                self.fill(&decimal, &mut out);
            }
            Some(exponent) => {
                let power = self.normalize(&mut decimal, places);
                self.fill(&decimal, &mut out);
                exponent.write(power, &mut out);
            }
        }
        out
    }

    /// Turns the number into the mantissa and returns the exponent: a multiple of the number of digits before the
    /// point.
    fn normalize(&self, decimal: &mut Decimal, places: usize) -> i32 {
        let width = self.digits_before_point();
        // Without a digit before the point, the mantissa is below one.
        let step = i32::try_from(width).unwrap_or(i32::MAX).max(1);
        let power = |decimal: &Decimal| {
            let power = decimal.exponent() + i32::from(width == 0 && !decimal.is_zero());
            power.div_euclid(step) * step
        };
        let first = power(decimal);
        decimal.shift(-first);
        decimal.round(places);
        // 9.999 rounds to 10.00, which is 1.00 with the next exponent.
        let carried = power(decimal);
        decimal.shift(-carried);
        first + carried
    }

    fn digits_before_point(&self) -> usize {
        self.number.iter().take_while(|token| **token != Token::Point).filter(|token| token.is_digit()).count()
    }

    fn digits_behind_point(&self) -> impl Iterator<Item = Digit> + '_ {
        self.number.iter().skip_while(|token| **token != Token::Point).filter_map(|token| match token {
            Token::Digit(digit) => Some(*digit),
            _ => None,
        })
    }

    /// Writes a number that is rounded to the places of the pattern.
    fn fill(&self, decimal: &Decimal, out: &mut String) {
        let integer: Vec<char> = decimal.integer().chars().collect();
        let before = self.digits_before_point();
        let forced = self.digits_behind_point().enumerate().filter(|(_, digit)| *digit == Digit::Zero).last();
        let shown = decimal.places().max(forced.map_or(0, |(place, _)| place + 1));
        let (mut left, mut place, mut behind_point) = (before, 0, false);
        for token in &self.number {
            match token {
                Token::Digit(digit) if behind_point => {
                    if place < shown {
                        out.push(decimal.decimal(place));
                    } else if *digit == Digit::Space {
                        out.push(' ');
                    }
                    place += 1;
                }
                Token::Digit(digit) => {
                    // The first placeholder takes all digits that have none of their own.
                    if left == before {
                        self.surplus(&integer, before, out);
                    }
                    left -= 1;
                    self.digit(*digit, &integer, left, out);
                }
                Token::Point => {
                    behind_point = true;
                    if before == 0 {
                        self.surplus(&integer, 0, out);
                    }
                    out.push('.');
                }
                other => out.push_str(&other.literal()),
            }
        }
    }

    /// Writes the digits to the left of the last `right` ones.
    fn surplus(&self, integer: &[char], right: usize, out: &mut String) {
        for position in (right..integer.len()).rev() {
            self.digit(Digit::None, integer, position, out);
        }
    }

    /// Writes the digit at a position, which counts from the right.
    fn digit(&self, digit: Digit, integer: &[char], position: usize, out: &mut String) {
        let value = integer.iter().rev().nth(position);
        let c = match (value, digit) {
            (Some(value), _) => *value,
            (None, Digit::Zero) => '0',
            (None, Digit::Space) => ' ',
            (None, Digit::None) => return,
        };
        out.push(c);
        if self.grouped && position > 0 && position.is_multiple_of(GROUP) && c != ' ' {
            out.push(',');
        }
    }
}

impl Exponent {
    fn write(&self, power: i32, out: &mut String) {
        out.push('E');
        if power < 0 {
            out.push('-');
        } else if self.plus {
            out.push('+');
        }
        let width = self.width;
        out.push_str(&format!("{:0width$}", power.unsigned_abs()));
        for token in &self.rest {
            out.push_str(&token.literal());
        }
    }
}
