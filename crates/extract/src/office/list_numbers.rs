//! Markers of lists that Markdown has no form for: `(a)`, `1.1`, `Article II.`.

use office_oxide::ir::{Element, InlineContent, List, ListItem, ListStyle, Paragraph, TextSpan};

/// Maximum number of levels (ECMA-376 part 1, 17.9.6).
const MAX_LEVELS: usize = 9;
/// Maximum length of a pattern in bytes; longer ones are replaced by plain numbers.
pub(super) const MAX_PATTERN: usize = 64;
/// Largest number that is written in letters: `zzz`, as Word counts them.
const MAX_LETTERS: u32 = 78;
/// Largest number with a Roman form.
const MAX_ROMAN: u32 = 3_999;

/// Roman numerals with their values, largest first.
const ROMAN: [(u32, &str); 13] = [
    (1_000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
];

/// Writes markers that are no plain numbers into the items, whose list becomes one with bullets. Markers that show the
/// number of a level outside of the list stay plain numbers.
pub(super) fn write(list: &mut List) {
    let mut shown: [String; MAX_LEVELS] = Default::default();
    write_level(list, 1, &mut shown);
}

/// Writes the markers of a list at the given level, from 1, or a lower one that its pattern names. `shown` are the
/// current numbers of the levels.
fn write_level(list: &mut List, level: usize, shown: &mut [String; MAX_LEVELS]) {
    let given = list.marker_pattern.as_deref().and_then(last_level).unwrap_or(level);
    let level = given.max(level);
    let pattern = pattern(list, level);
    let mut is_written = false;
    let mut number = list.start_number.unwrap_or(1);
    for item in &mut list.items {
        if let Some(own) = shown.get_mut(level - 1) {
            *own = if list.ordered { numeral(number, list.style.as_ref()) } else { String::new() };
        }
        number = number.saturating_add(1);
        let known = |level: u8| shown.get(usize::from(level)).filter(|number| !number.is_empty()).cloned();
        if let Some(marker) = pattern.as_deref().and_then(|pattern| filled(pattern, known)) {
            push_front(item, format!("{marker} "));
            is_written = true;
        }
        if let Some(nested) = &mut item.nested {
            write_level(nested, level + 1, shown);
        }
    }
    // The numbers of the levels above are the same for all items, so all of them have a marker or none.
    if is_written {
        list.ordered = false;
    }
    for own in shown.iter_mut().skip(level - 1) {
        own.clear();
    }
}

/// Returns the pattern of markers that are no plain numbers.
fn pattern(list: &List, level: usize) -> Option<String> {
    if !list.ordered || level > MAX_LEVELS {
        return None;
    }
    let is_decimal = matches!(list.style, None | Some(ListStyle::Decimal));
    let given = list.marker_pattern.as_deref().map(str::trim);
    match given.filter(|pattern| pattern.len() <= MAX_PATTERN && last_level(pattern).is_some()) {
        Some(pattern) => (!is_decimal || !is_plain(pattern)).then(|| pattern.to_owned()),
        // The library leaves out the pattern of a number and a full stop.
        None => (!is_decimal).then(|| format!("%{level}.")),
    }
}

/// Returns true for `%1`, `%1.` and `%1)`.
fn is_plain(pattern: &str) -> bool {
    matches!(pattern.as_bytes(), [b'%', b'1'..=b'9'] | [b'%', b'1'..=b'9', b'.' | b')'])
}

/// Returns the lowest level that a pattern names.
fn last_level(pattern: &str) -> Option<usize> {
    let levels = pattern.split('%').skip(1).filter_map(|part| part.chars().next()?.to_digit(10));
    levels.filter(|level| *level > 0).filter_map(|level| usize::try_from(level).ok()).max()
}

/// Returns the pattern with the numbers of its levels. `number` returns that of a level; 0 is the outermost. Returns
/// `None` if one of them is unknown.
pub(super) fn filled(pattern: &str, number: impl Fn(u8) -> Option<String>) -> Option<String> {
    let mut out = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        let level = rest.peek().and_then(|next| next.to_digit(10)).filter(|level| c == '%' && *level > 0);
        let Some(level) = level else {
            out.push(c);
            continue;
        };
        rest.next();
        out.push_str(&number(u8::try_from(level - 1).ok()?)?);
    }
    Some(out)
}

/// Returns a number in letters or Roman digits; in Arabic digits if the style is another one.
pub(super) fn numeral(number: u32, style: Option<&ListStyle>) -> String {
    let written = match style {
        Some(ListStyle::LowerAlpha) => letters(number),
        Some(ListStyle::UpperAlpha) => letters(number).map(|letters| letters.to_ascii_uppercase()),
        Some(ListStyle::LowerRoman) => roman(number),
        Some(ListStyle::UpperRoman) => roman(number).map(|roman| roman.to_ascii_uppercase()),
        _ => None,
    };
    written.unwrap_or_else(|| number.to_string())
}

/// Returns `a` to `z`, then `aa` to `zz` and `aaa` to `zzz` with the same letter. Returns `None` for other numbers.
fn letters(number: u32) -> Option<String> {
    let index = number.checked_sub(1).filter(|_| number <= MAX_LETTERS)?;
    let letter = char::from(b'a' + u8::try_from(index % 26).ok()?);
    let length = usize::try_from(index / 26 + 1).ok()?;
    Some(std::iter::repeat_n(letter, length).collect())
}

fn roman(number: u32) -> Option<String> {
    if !(1..=MAX_ROMAN).contains(&number) {
        return None;
    }
    let mut rest = number;
    let mut out = String::new();
    for (value, numeral) in ROMAN {
        while rest >= value {
            rest -= value;
            out.push_str(numeral);
        }
    }
    Some(out)
}

/// Puts the marker in front of the text of an item.
fn push_front(item: &mut ListItem, marker: String) {
    let marker = InlineContent::Text(TextSpan::plain(marker));
    match item.content.first_mut() {
        Some(Element::Paragraph(paragraph)) => paragraph.content.insert(0, marker),
        Some(Element::Heading(heading)) => heading.content.insert(0, marker),
        _ => item.content.insert(0, Element::Paragraph(Paragraph { content: vec![marker], ..Paragraph::default() })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::office::render;
    use office_oxide::ir::Section;

    fn list(style: ListStyle, pattern: &str, items: &[&str]) -> List {
        let paragraph = |text: &&str| Paragraph {
            content: vec![InlineContent::Text(TextSpan::plain(*text))],
            ..Paragraph::default()
        };
        let item = |text: &&str| ListItem { content: vec![Element::Paragraph(paragraph(text))], nested: None };
        List {
            ordered: true,
            style: Some(style),
            marker_pattern: (!pattern.is_empty()).then(|| pattern.to_owned()),
            items: items.iter().map(item).collect(),
            ..List::default()
        }
    }

    fn nested(mut list: List, inner: List) -> List {
        if let Some(last) = list.items.last_mut() {
            last.nested = Some(inner);
        }
        list
    }

    #[test]
    fn items_have_the_markers_of_the_document() {
        use ListStyle::{Decimal, LowerAlpha, LowerRoman, UpperRoman};
        let from_e = List { start_number: Some(5), ..list(LowerAlpha, "%1)", &["x", "y"]) };
        let from_7 = List { start_number: Some(7), ..list(Decimal, "%1)", &["x", "y"]) };
        let last = List { start_number: Some(u32::MAX), ..list(LowerAlpha, "", &["x", "y"]) };
        let clauses = nested(list(LowerRoman, "", &["x"]), list(Decimal, "%1.%2", &["y", "z"]));
        for (list, expected) in [
            (from_e, "- e) x\n- f) y\n"),
            (from_7, "7) x\n8) y\n"),
            (last, "- 4294967295. x\n- 4294967295. y\n"),
            (list(UpperRoman, "Article %1.", &["x", "y"]), "- Article I. x\n- Article II. y\n"),
            (list(Decimal, "[%1]", &["x"]), "- \\[1\\] x\n"),
            (list(Decimal, "# %1", &["x"]), "- \\# 1 x\n"),
            (list(Decimal, "%1", &["x"]), "1. x\n"),
            (
                nested(list(Decimal, "", &["w", "x"]), list(Decimal, "%1.%2", &["y", "z"])),
                "1. w\n2. x\n    - 2.1 y\n    - 2.2 z\n",
            ),
            (nested(list(Decimal, "", &["x"]), list(LowerAlpha, "(%2)", &["y"])), "1. x\n    - (a) y\n"),
            (clauses, "- i. x\n    - i.1 y\n    - i.2 z\n"),
            // The number of the heading above is no part of the list.
            (list(Decimal, "%1.%2", &["x"]), "1. x\n"),
        ] {
            let section = Section { elements: vec![Element::List(list)], ..Section::default() };
            assert_eq!(render(section), expected);
        }
    }

    #[test]
    fn numerals_are_those_of_word() {
        let shown = |style: ListStyle| [1, 4, 27, 78, 3_999].map(|number| numeral(number, Some(&style))).join(" ");
        assert_eq!(shown(ListStyle::LowerAlpha), "a d aa zzz 3999");
        assert_eq!(shown(ListStyle::UpperRoman), "I IV XXVII LXXVIII MMMCMXCIX");
        assert_eq!(numeral(0, Some(&ListStyle::LowerRoman)), "0");
    }
}
