//! Citation marks in the text of a model: `[1]`, `[2, 3]`, `[4-6]`, `【7】`.

/// Longest range that a mark may stand for.
const MAX_RANGE: usize = 20;

/// Returns the text without its marks, and the numbers in them.
pub(super) fn take(text: &str) -> (String, Vec<usize>) {
    let mut out = String::with_capacity(text.len());
    let mut numbers = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['[', '【']) {
        let open = rest[at..].chars().next().unwrap_or('[');
        let inside = &rest[at + open.len_utf8()..];
        let close = inside.find([']', '】']).filter(|close| *close <= 60);
        match close.and_then(|close| Some((close, read(&inside[..close])?))) {
            Some((close, mut found)) => {
                out.push_str(rest[..at].trim_end_matches(' '));
                numbers.append(&mut found);
                rest = &inside[close + inside[close..].chars().next().map_or(1, char::len_utf8)..];
            }
            None => {
                out.push_str(&rest[..at + open.len_utf8()]);
                rest = inside;
            }
        }
    }
    out.push_str(rest);
    (out, numbers)
}

/// Returns true if a text begins with a mark: it belongs to the sentence before.
pub(super) fn leading(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = text[end..].trim_start();
        let at = text.len() - rest.len();
        let Some(open) = rest.chars().next().filter(|c| matches!(c, '[' | '【')) else { return end };
        let inside = &rest[open.len_utf8()..];
        let Some(close) = inside.find([']', '】']).filter(|close| *close <= 60) else { return end };
        if read(&inside[..close]).is_none() {
            return end;
        }
        end = at + open.len_utf8() + close + inside[close..].chars().next().map_or(1, char::len_utf8);
    }
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
    use super::*;

    #[test]
    fn marks_are_taken_out_of_the_text() {
        assert_eq!(take("It is so [1][2, 3]."), ("It is so.".to_owned(), vec![1, 2, 3]));
        assert_eq!(take("So【4】 [5-7] it is"), ("So it is".to_owned(), vec![4, 5, 6, 7]));
        assert_eq!(take("[link](x) [a1] [ "), ("[link](x) [a1] [ ".to_owned(), vec![]));
        assert_eq!(take("[1-99999999999]").1.len(), MAX_RANGE);
        assert_eq!(leading(" [1] [2] More"), 8);
        assert_eq!(leading("More [1]"), 0);
    }
}
