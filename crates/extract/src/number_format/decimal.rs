//! Decimal digits of numbers.

/// Largest number up to which all integers are exact: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Maximum digits before the point of a number without an exponent, as in Excel's formula bar.
const MAX_INTEGER_DIGITS: i32 = 21;
/// Maximum zeros behind the point of a number without an exponent.
const MAX_LEADING_ZEROS: i32 = 8;

/// Positive decimal number `0.d1d2d3… * 10^point`. Spreadsheet programs calculate with 15 significant digits: 1.005,
/// which is stored as 1.00499999999999989, rounds to 1.01.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Decimal {
    /// Digits without zeros at either end; none for zero.
    digits: Vec<u8>,
    point: i32,
}

impl Decimal {
    /// Returns the absolute value with 15 significant digits; exact integers keep all digits. Infinite numbers are 0.
    pub(super) fn new(value: f64) -> Self {
        let value = value.abs();
        let (digits, exponent) = if value.fract() == 0.0 && value < EXACT {
            let digits = format!("{value:.0}");
            let exponent = digits.len() as i32 - 1;
            (digits, exponent)
        } else {
            let text = format!("{value:.14e}");
            match text.split_once('e').and_then(|(digits, exponent)| Some((digits, exponent.parse().ok()?))) {
                Some((digits, exponent)) => (digits.to_owned(), exponent),
                None => return Self { digits: Vec::new(), point: 0 },
            }
        };
        let mut decimal =
            Self { digits: digits.bytes().filter(u8::is_ascii_digit).map(|c| c - b'0').collect(), point: exponent + 1 };
        decimal.trim();
        decimal
    }

    /// Removes zeros at the end, and makes zero unique.
    fn trim(&mut self) {
        let kept = self.digits.iter().rposition(|digit| *digit != 0).map_or(0, |last| last + 1);
        self.digits.truncate(kept);
        if self.digits.is_empty() {
            self.point = 0;
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.digits.is_empty()
    }

    /// Returns the exponent of the number with one digit before the point.
    pub(super) fn exponent(&self) -> i32 {
        if self.is_zero() { 0 } else { self.point - 1 }
    }

    /// Multiplies by a power of ten.
    pub(super) fn shift(&mut self, exponent: i32) {
        if !self.is_zero() {
            self.point += exponent;
        }
    }

    /// Rounds to a number of digits behind the point, halves away from zero.
    pub(super) fn round(&mut self, places: usize) {
        let kept = i64::from(self.point) + places as i64;
        let Ok(kept) = usize::try_from(kept) else {
            self.digits.clear();
            self.trim();
            return;
        };
        let Some(next) = self.digits.get(kept).copied() else { return };
        self.digits.truncate(kept);
        if next >= 5 {
            self.increment();
        }
        self.trim();
    }

    /// Adds one to the last digit.
    fn increment(&mut self) {
        loop {
            match self.digits.last_mut() {
                Some(9) => {
                    self.digits.pop();
                }
                Some(digit) => {
                    *digit += 1;
                    return;
                }
                None => {
                    self.digits.push(1);
                    self.point += 1;
                    return;
                }
            }
        }
    }

    /// Returns the digits before the point; none for numbers below one.
    pub(super) fn integer(&self) -> String {
        (0..self.point.max(0)).map(|at| self.digit(at)).collect()
    }

    /// Returns the digit behind the point, with the first at zero.
    pub(super) fn decimal(&self, place: usize) -> char {
        i32::try_from(place).map_or('0', |place| self.digit(self.point.saturating_add(place)))
    }

    /// Returns the number of digits behind the point without zeros at the end.
    pub(super) fn places(&self) -> usize {
        usize::try_from(self.digits.len() as i64 - i64::from(self.point)).unwrap_or(0)
    }

    fn digit(&self, at: i32) -> char {
        let digit = usize::try_from(at).ok().and_then(|at| self.digits.get(at));
        digit.map_or('0', |digit| char::from(b'0' + digit))
    }

    /// Returns the number without a format.
    pub(super) fn plain(&self) -> String {
        if self.is_zero() {
            return "0".into();
        }
        if (-MAX_LEADING_ZEROS..=MAX_INTEGER_DIGITS).contains(&self.point) {
            let integer = if self.point > 0 { self.integer() } else { "0".into() };
            return integer + &self.behind_point();
        }
        let exponent = self.exponent();
        let mantissa = Self { digits: self.digits.clone(), point: 1 };
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}{}E{sign}{:02}", mantissa.integer(), mantissa.behind_point(), exponent.unsigned_abs())
    }

    fn behind_point(&self) -> String {
        if self.places() == 0 {
            return String::new();
        }
        std::iter::once('.').chain((0..self.places()).map(|place| self.decimal(place))).collect()
    }
}
