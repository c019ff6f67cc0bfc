//! Fractions: `# ?/?`, `# ??/16`, `?/?`.

use super::decimal::Decimal;
use super::parse::{Digit, Token};

/// Maximum digits of a denominator.
const MAX_DIGITS: usize = 7;
/// Maximum value that is shown as a fraction. Above, no fraction of a double is left.
const MAX_VALUE: f64 = 1e15;
/// Maximum value of a fraction without an integer, so that the numerator is exact.
const MAX_IMPROPER: f64 = 1e8;
/// Maximum steps of the approximation. Denominators grow at least as the Fibonacci numbers: 35 exceed seven digits.
const MAX_STEPS: usize = 40;
/// Difference to the next integer from which a value counts as one.
const SMALLEST: f64 = 5e-8;

#[derive(Debug)]
pub(super) struct Fraction {
    prefix: String,
    /// Digits of the integer; none for an improper fraction.
    integer: Vec<Digit>,
    denominator: Denominator,
    suffix: String,
}

#[derive(Debug)]
enum Denominator {
    Fixed(u32),
    AtMost(u32),
}

impl Fraction {
    /// Returns the fraction of a section, or `None` if it is not one.
    pub(super) fn new(tokens: &[Token]) -> Option<Self> {
        let slash = tokens.iter().position(|token| *token == Token::Slash)?;
        let (before, after) = (tokens.get(..slash)?, tokens.get(slash + 1..)?);
        let spaces = |token: &&Token| matches!(token, Token::Literal(text) if text.trim().is_empty());
        let after = after.get(after.iter().take_while(spaces).count()..)?;
        let width = after.iter().take_while(|token| token.is_digit() || matches!(token, Token::Figure(_))).count();
        let (denominator, suffix) = after.split_at_checked(width).filter(|_| (1..=MAX_DIGITS).contains(&width))?;
        let fixed = denominator.iter().any(|token| matches!(token, Token::Figure(_)));
        let denominator = if fixed {
            // Zeros of `100` are parsed as placeholders.
            let digits = denominator.iter().map(|token| if token.is_digit() { "0".into() } else { token.literal() });
            Denominator::Fixed(digits.collect::<String>().parse().ok().filter(|denominator| *denominator > 0)?)
        } else {
            Denominator::AtMost(10u32.checked_pow(u32::try_from(width).ok()?)? - 1)
        };
        let end = before.len() - before.iter().rev().take_while(spaces).count();
        let numerator = before.get(..end)?.iter().rev().take_while(|token| token.is_digit()).count();
        let before = before.get(..end - numerator).filter(|_| numerator > 0)?;
        let start = before.iter().position(Token::is_digit).unwrap_or(before.len());
        let integer = before.iter().filter_map(|token| match token {
            Token::Digit(digit) => Some(*digit),
            _ => None,
        });
        let literals = |tokens: &[Token]| tokens.iter().map(Token::literal).collect();
        Some(Self {
            prefix: literals(before.get(..start)?),
            integer: integer.collect(),
            denominator,
            suffix: literals(suffix),
        })
    }

    /// Returns the absolute value as a fraction. Returns `None` for a number that is too large for one.
    pub(super) fn shown(&self, value: f64) -> Option<String> {
        let value = value.abs();
        let limit = if self.integer.is_empty() { MAX_IMPROPER } else { MAX_VALUE };
        if value > limit {
            return None;
        }
        let (mut integer, rest) = if self.integer.is_empty() { (0.0, value) } else { (value.trunc(), value.fract()) };
        let (mut numerator, denominator) = match self.denominator {
            Denominator::Fixed(denominator) => ((rest * f64::from(denominator)).round() as u64, u64::from(denominator)),
            Denominator::AtMost(limit) => approximate(rest, u64::from(limit)),
        };
        if !self.integer.is_empty() && numerator >= denominator {
            integer += 1.0;
            numerator = 0;
        }
        let mut out = self.prefix.clone();
        if !self.integer.is_empty() {
            let shown = self.integer_text(integer, numerator == 0);
            out.push_str(&shown);
            if numerator > 0 && !shown.is_empty() {
                out.push(' ');
            }
        }
        if self.integer.is_empty() || numerator > 0 {
            out.push_str(&format!("{numerator}/{denominator}"));
        }
        out.push_str(&self.suffix);
        Some(out)
    }

    /// Returns the integer; a zero beside a fraction is shown only by the placeholder `0`.
    fn integer_text(&self, integer: f64, alone: bool) -> String {
        let digits = Decimal::new(integer).integer();
        let least = self.integer.iter().filter(|digit| **digit == Digit::Zero).count().max(usize::from(alone));
        format!("{digits:0>least$}")
    }
}

/// Returns numerator and denominator of the nearest convergent with a denominator up to the limit.
fn approximate(value: f64, limit: u64) -> (u64, u64) {
    let (mut previous, mut last) = ((0, 1), (1, 0));
    let mut rest = value;
    for _ in 0..MAX_STEPS {
        let whole = rest.floor();
        let next = |last: u64, previous: u64| (whole as u64).saturating_mul(last).saturating_add(previous);
        let convergent = (next(last.0, previous.0), next(last.1, previous.1));
        if convergent.1 > limit {
            break;
        }
        (previous, last) = (last, convergent);
        if rest - whole < SMALLEST {
            break;
        }
        rest = 1.0 / (rest - whole);
    }
    last
}
