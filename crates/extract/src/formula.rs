//! Parts of formulas as one line of text: `1/2`, `10^6`, `x_i`, `√(a+b)`. Marks of markdown are not escaped.

/// Marks over one letter, with the characters that combine with it.
const ACCENTS: [(&str, char); 9] = [
    ("^", '\u{302}'),
    ("ˆ", '\u{302}'),
    ("~", '\u{303}'),
    ("˜", '\u{303}'),
    ("¯", '\u{304}'),
    ("‾", '\u{304}'),
    ("˙", '\u{307}'),
    ("¨", '\u{308}'),
    ("→", '\u{20d7}'),
];
/// Brackets over or under a part, which only frame it.
const FRAMES: [&str; 4] = ["⏞", "⏟", "⎴", "⎵"];

/// Strength with which a part holds together, weakest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Binding {
    Row,
    Quotient,
    /// Base with scripts, or root.
    Script,
    /// Number, name, or part in brackets.
    #[default]
    Atom,
}

/// Written part of a formula.
#[derive(Debug, Default)]
pub(crate) struct Part {
    pub(crate) text: String,
    pub(crate) binding: Binding,
}

impl Part {
    pub(crate) fn new(text: String, binding: Binding) -> Self {
        Self { text, binding }
    }

    /// Returns the text, in parentheses if the part holds together less than `binding` asks.
    fn bound(self, binding: Binding) -> String {
        if self.binding < binding { format!("({})", self.text) } else { self.text }
    }

    fn is_word(&self) -> bool {
        self.binding == Binding::Atom && self.text.chars().count() > 1 && self.text.chars().all(char::is_alphabetic)
    }

    /// Returns true if the next part would be read as a part of this one: `1` and `1/2`, `sin` and `x`, `10^6` and `m`.
    fn needs_space_before(&self, next: &Self) -> bool {
        let (Some(left), Some(right)) = (self.text.chars().next_back(), next.text.chars().next()) else { return false };
        if matches!(left, ',' | ';') {
            return true;
        }
        let is_quotient = self.binding == Binding::Quotient || next.binding == Binding::Quotient;
        let closes = left.is_alphanumeric() || matches!(left, ')' | ']');
        let opens = right.is_alphanumeric() || matches!(right, '(' | '[' | '√');
        if is_quotient && closes && opens {
            return true;
        }
        let is_run = self.binding == Binding::Script
            || self.is_word()
            || next.is_word()
            || (left.is_numeric() && right.is_numeric());
        is_run && left.is_alphanumeric() && right.is_alphanumeric()
    }
}

/// Returns a text without the operators that are not shown.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, '\u{2061}'..='\u{2064}')).collect()
}

/// Writes parts one after the other.
pub(crate) fn row(parts: impl IntoIterator<Item = Part>) -> Part {
    let mut parts = parts.into_iter().filter(|part| !part.text.is_empty());
    let Some(mut last) = parts.next() else { return Part::default() };
    let mut text = String::new();
    for part in parts {
        text.push_str(&last.text);
        if last.needs_space_before(&part) {
            text.push(' ');
        }
        last = part;
    }
    if text.is_empty() {
        return last;
    }
    text.push_str(&last.text);
    let binding = if is_enclosed(&text) { Binding::Atom } else { Binding::Row };
    Part::new(text, binding)
}

/// Returns true if the bracket at the start of the text is closed at its end.
pub(crate) fn is_enclosed(text: &str) -> bool {
    let mut depth = 0usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at > 0 && at + c.len_utf8() == text.len();
        }
    }
    false
}

/// Writes parts with a separator, without those that are empty.
pub(crate) fn joined(parts: impl IntoIterator<Item = Part>, separator: &str) -> Part {
    let texts = parts.into_iter().map(|part| part.text).filter(|text| !text.is_empty());
    Part::new(texts.collect::<Vec<_>>().join(separator), Binding::Row)
}

pub(crate) fn quotient(above: Part, below: Part) -> Part {
    Part::new(format!("{}/{}", above.bound(Binding::Script), below.bound(Binding::Script)), Binding::Quotient)
}

/// Writes a root; a square root if the degree is empty.
pub(crate) fn root(base: Part, degree: Part) -> Part {
    let base = base.bound(Binding::Atom);
    let text = if degree.text.is_empty() {
        format!("√{base}")
    } else {
        format!("{base}^(1/{})", degree.bound(Binding::Script))
    };
    Part::new(text, Binding::Script)
}

/// Writes a base with pairs of parts below and above it.
pub(crate) fn scripted(base: Part, scripts: impl IntoIterator<Item = (Part, Part)>) -> Part {
    let mut written = String::new();
    for (below, above) in scripts {
        push_scripts(below, above, &mut written);
    }
    if written.is_empty() {
        return base;
    }
    Part::new(base.bound(Binding::Atom) + &written, Binding::Script)
}

/// Writes a base behind pairs of parts below and above it.
pub(crate) fn prescripted(base: Part, scripts: impl IntoIterator<Item = (Part, Part)>) -> Part {
    let front = scripted(Part::default(), scripts);
    if front.text.is_empty() {
        return base;
    }
    Part::new(format!("{} {}", front.text, base.text), Binding::Row)
}

fn push_scripts(below: Part, above: Part, out: &mut String) {
    for (mark, script) in [('_', below), ('^', above)] {
        if script.text.is_empty() || FRAMES.contains(&script.text.as_str()) {
            continue;
        }
        // Primes are raised by themselves.
        if !script.text.chars().all(|c| matches!(c, '\'' | '′' | '″' | '‴' | '°')) {
            out.push(mark);
        }
        out.push_str(&script.bound(Binding::Atom));
    }
}

/// Writes a base with a mark over it, which may be a combining character.
pub(crate) fn over(base: Part, above: Part) -> Part {
    let is_above = |mark: &str, combining: char| above.text == mark || above.text.chars().eq([combining]);
    let accent = ACCENTS.iter().find(|(mark, combining)| is_above(mark, *combining));
    match accent {
        Some((_, combining)) if base.text.chars().count() == 1 => {
            Part::new(format!("{}{combining}", base.text), Binding::Atom)
        }
        Some((mark, _)) => scripted(base, [(Part::default(), Part::new((*mark).to_owned(), Binding::Atom))]),
        None => scripted(base, [(Part::default(), above)]),
    }
}
