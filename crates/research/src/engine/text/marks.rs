//! Citation marks: `[1]`, `[2, 3]`, `[4-6]`, `【7】`.

/// Longest range that a mark may stand for.
const MAX_RANGE: usize = 20;
/// Longest inside of a mark in bytes.
const MAX_INSIDE: usize = 60;

/// A mark in a text.
struct Mark<'a> {
    before: &'a str,
    inside: &'a str,
    numbers: Vec<usize>,
    after: &'a str,
}

/// Returns the text without its marks, and the numbers in them.
pub(crate) fn take(text: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(mut mark) = find(rest) {
        out.push_str(mark.before.trim_end_matches(' '));
        numbers.append(&mut mark.numbers);
        rest = mark.after;
    }
    out.push_str(rest);
    (out, numbers)
}

/// Returns the text with round brackets around the numbers of its marks, which then are none.
pub(crate) fn rounded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(Mark { before, inside, after, .. }) = find(rest) {
        out.extend([before, "(", inside, ")"]);
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Returns the length of the marks at the beginning of a text, which belong to the sentence before, in bytes.
pub(crate) fn leading(text: &str) -> usize {
    let mut rest = text;
    while let Some(mark) = find(rest).filter(|mark| mark.before.trim_start().is_empty()) {
        rest = mark.after;
    }
    text.len() - rest.len()
}

/// Returns true if a text ends in a mark, with nothing but punctuation after it.
pub(crate) fn is_last(text: &str) -> bool {
    let is_bracket = |c: char| matches!(c, '[' | ']' | '【' | '】');
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_bracket(c));
    let mark = text.rfind(['[', '【']).and_then(|at| find(&text[at..]));
    mark.is_some_and(|mark| mark.before.is_empty() && mark.after.is_empty())
}

/// Finds the first mark.
fn find(text: &str) -> Option<Mark<'_>> {
    text.match_indices(['[', '【']).find_map(|(at, open)| {
        let inside = &text[at + open.len()..];
        // With room for the bracket, which takes up to three bytes. Unclosed brackets must not cost the rest of the text each.
        let near = &inside[..inside.floor_char_boundary(MAX_INSIDE + 3)];
        let (end, close) = near.match_indices([']', '】']).next().filter(|(end, _)| *end <= MAX_INSIDE)?;
        let (inside, after) = (&inside[..end], &inside[end + close.len()..]);
        Some(Mark { before: &text[..at], inside, numbers: read(inside)?, after })
    })
}

/// Reads the inside of a mark; `None` if it is not one.
fn read(inside: &str) -> Option<Vec<usize>> {
    let mut numbers = Vec::new();
    for part in inside.split([',', ';']) {
        let part = part.trim().trim_start_matches('^');
        let (first, last) = part.split_once(['-', '–']).unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        numbers.extend((first..=last).take(MAX_RANGE));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn marks_are_taken_out_of_the_text() {
        assert_eq!(take("It is so [1][2, 3]."), ("It is so.".to_owned(), vec![1, 2, 3]));
        assert_eq!(take("So【4】 [5-7] it is"), ("So it is".to_owned(), vec![4, 5, 6, 7]));
        assert_eq!(take("[link](x) [a1] [ "), ("[link](x) [a1] [ ".to_owned(), vec![]));
        assert_eq!(take("[1-99999999999]").1.len(), MAX_RANGE);
        assert_eq!(leading(" [1] [2] More"), 8);
        assert_eq!(leading("More [1]"), 0);
        assert_eq!(leading("[a] [1]"), 0);
    }

    #[test]
    fn marks_end_a_text() {
        for text in ["It is so [1].", "It is so. [1][2, 3]", "**It is so【4】**\n", "[1]"] {
            assert!(is_last(text), "{text}");
        }
        for text in ["It is so", "It is so [1] and 4", "It is so [1", "It is so [1][", "It is [so]", "It is]", "[", ""]
        {
            assert!(!is_last(text), "{text}");
        }
    }

    #[test]
    fn rounded_marks_are_none() {
        for (text, expected) in [
            ("In 1937.[2][3, 4] 【5】", "In 1937.(2)(3, 4) (5)"),
            ("[[6]](#cite) [^7]: [ 8 ]", "[(6)](#cite) (^7): ( 8 )"),
            ("[link](x) [a1] [", "[link](x) [a1] ["),
        ] {
            assert_eq!(rounded(text), expected);
            assert!(take(expected).1.is_empty());
        }
    }

    #[test]
    fn inside_of_a_mark_is_short() {
        let mark = |zeros: usize, close: char| format!("x【{}1{close}", "0".repeat(zeros));
        for close in [']', '】'] {
            assert_eq!(take(&mark(59, close)), ("x".to_owned(), vec![1]));
            let long = mark(60, close);
            assert_eq!(take(&long), (long.clone(), vec![]));
        }
        assert!(take(&format!("[{}", "é".repeat(40))).1.is_empty());
    }

    #[test]
    fn unclosed_brackets_stay_linear() {
        let brackets = "[".repeat(100_000);
        let started = Instant::now();
        assert_eq!(take(&format!("a [1] {brackets}")), (format!("a {brackets}"), vec![1]));
        assert_eq!(leading(&format!(" [1]{brackets}")), 4);
        // Half a second alone; on a busy machine several times that.
        assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    }
}
