//! Sections of a format code and the choice between them.

use super::clock::Clock;
use super::parse::{Condition, Operator, Parsed, Token, Unit};
use super::{Fraction, Pattern};

/// Form in which a section shows a value.
#[derive(Debug)]
pub(super) enum Kind {
    /// Day, month or year.
    Calendar,
    /// Time of day or duration.
    Clock(Clock),
    Fraction(Fraction),
    Number(Pattern),
    /// Text of the cell, beside literals.
    Text,
    /// Literals, or the number without a format.
    Literal,
}

#[derive(Debug)]
pub(super) struct Section {
    pub(super) kind: Kind,
    pub(super) tokens: Vec<Token>,
    condition: Option<Condition>,
}

impl Section {
    pub(super) fn new(parsed: Parsed) -> Self {
        let Parsed { mut tokens, condition } = parsed;
        // A condition alone selects the plain number.
        if tokens.is_empty() && condition.is_some() {
            tokens.push(Token::General);
        }
        name_minutes(&mut tokens);
        let has = |is: fn(&Token) -> bool| tokens.iter().any(is);
        let kind = if has(|token| matches!(token, Token::Calendar | Token::MonthOrMinute(_))) {
            Kind::Calendar
        } else if has(|token| matches!(token, Token::Time(..) | Token::Elapsed(..) | Token::HalfDay(..))) {
            Kind::Clock(Clock::new(&tokens))
        } else if has(|token| matches!(token, Token::Text)) {
            Kind::Text
        } else if let Some(fraction) = Fraction::new(&tokens) {
            Kind::Fraction(fraction)
        } else if has(Token::is_digit) {
            Kind::Number(Pattern::new(&tokens))
        } else {
            Kind::Literal
        };
        Self { kind, tokens, condition }
    }
}

/// Tells minutes from months: a minute follows an hour or precedes a second.
fn name_minutes(tokens: &mut [Token]) {
    let mut after_hour = false;
    for token in tokens.iter_mut() {
        match token {
            Token::Time(unit, _) | Token::Elapsed(unit, _) => after_hour = *unit == Unit::Hour,
            Token::MonthOrMinute(width) if after_hour => {
                *token = Token::Time(Unit::Minute, *width);
                after_hour = false;
            }
            Token::MonthOrMinute(_) | Token::Calendar => after_hour = false,
            _ => {}
        }
    }
    let mut before_second = false;
    for token in tokens.iter_mut().rev() {
        match token {
            Token::Time(unit, _) | Token::Elapsed(unit, _) => before_second = *unit == Unit::Second,
            Token::MonthOrMinute(width) if before_second => {
                *token = Token::Time(Unit::Minute, *width);
                before_second = false;
            }
            Token::MonthOrMinute(_) | Token::Calendar => before_second = false,
            _ => {}
        }
    }
}

/// Section for a value.
pub(super) struct Chosen<'f> {
    pub(super) section: &'f Section,
    /// Set for a section of negative numbers, which writes their sign itself.
    pub(super) unsigned: bool,
}

/// Returns the section that shows the number. Returns `None` if conditions exclude it.
pub(super) fn choose(sections: &[Section], value: f64) -> Option<Chosen<'_>> {
    // The last section is for text if it has `@`.
    let numeric = match sections {
        [first @ .., Section { kind: Kind::Text, .. }] => first,
        [first @ .., _] if sections.len() == 4 => first,
        all => all,
    };
    if numeric.iter().all(|section| section.condition.is_none()) {
        let at = match numeric.len() {
            0 => return None,
            1 => 0,
            2 => usize::from(value < 0.0),
            _ if value > 0.0 => 0,
            _ if value < 0.0 => 1,
            _ => 2,
        };
        return numeric.get(at).map(|section| Chosen { section, unsigned: at == 1 });
    }
    let met = numeric.iter().find(|section| section.condition.is_some_and(|condition| condition.holds(value)));
    if let Some(section) = met {
        let unsigned = section.condition.is_some_and(Condition::excludes_positive);
        return Some(Chosen { section, unsigned });
    }
    // Of two sections without a condition, the first is for one sign and the other for the rest.
    let positive_first = numeric.first().is_some_and(|section| section.condition.is_none());
    let mut open = numeric.iter().filter(|section| section.condition.is_none());
    let (first, second) = (open.next()?, open.next());
    let takes_first = if positive_first { value > 0.0 } else { value < 0.0 };
    let section = second.filter(|_| !takes_first).unwrap_or(first);
    let positive_taken =
        numeric.iter().filter_map(|section| section.condition).any(|condition| condition.includes_positive())
            || (second.is_some() && positive_first);
    let unsigned = positive_taken || (second.is_some() && takes_first && !positive_first);
    Some(Chosen { section, unsigned })
}

impl Condition {
    fn holds(self, value: f64) -> bool {
        match self.operator {
            Operator::Less => value < self.limit,
            Operator::AtMost => value <= self.limit,
            Operator::Equal => value == self.limit,
            Operator::NotEqual => value != self.limit,
            Operator::AtLeast => value >= self.limit,
            Operator::Greater => value > self.limit,
        }
    }

    /// Returns true if no positive number meets the condition.
    fn excludes_positive(self) -> bool {
        matches!(self.operator, Operator::Less | Operator::AtMost | Operator::Equal) && self.limit <= 0.0
    }

    /// Returns true if all positive numbers meet the condition.
    fn includes_positive(self) -> bool {
        matches!(self.operator, Operator::AtLeast | Operator::Greater) && self.limit <= 0.0
    }
}
