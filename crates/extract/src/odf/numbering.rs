//! Formats of the numbers of list items (ODF 1.3 part 3, 19.502).

/// Largest number that is written in Roman digits.
const MAX_ROMAN: u32 = 3_999;

/// Returns a number in a format (`1`, `a`, `A`, `i`, `I`); in digits if the format is another one.
pub(super) fn written(number: u32, format: &str) -> String {
    match format {
        "a" => letters(number, b'a'),
        "A" => letters(number, b'A'),
        "i" => roman(number).map(|digits| digits.to_lowercase()),
        "I" => roman(number),
        _ => None,
    }
    .unwrap_or_else(|| number.to_string())
}

/// Returns `a` to `z`, then `aa` and so on.
fn letters(number: u32, first: u8) -> Option<String> {
    let mut rest = number;
    let mut letters = Vec::new();
    while let Some(index) = rest.checked_sub(1) {
        letters.push(char::from(first + u8::try_from(index % 26).ok()?));
        rest = index / 26;
    }
    (number > 0).then(|| letters.iter().rev().collect())
}

fn roman(number: u32) -> Option<String> {
    const DIGITS: [(u32, &str); 13] = [
        (1000, "M"),
        (900, "CM"),
        (500, "D"),
        (400, "CD"),
        (100, "C"),
        (90, "XC"),
        (50, "L"),
        (40, "XL"),
        (10, "X"),
        (9, "IX"),
        (5, "V"),
        (4, "IV"),
        (1, "I"),
    ];
    if !(1..=MAX_ROMAN).contains(&number) {
        return None;
    }
    let mut rest = number;
    let mut out = String::new();
    for (value, digit) in DIGITS {
        while rest >= value {
            out.push_str(digit);
            rest -= value;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_in_their_format() {
        for (number, format, text) in [
            (3, "1", "3"),
            (1, "a", "a"),
            (28, "A", "AB"),
            (0, "a", "0"),
            (4, "i", "iv"),
            (1994, "I", "MCMXCIV"),
            (4_000, "I", "4000"),
            (7, "一", "7"),
        ] {
            assert_eq!(written(number, format), text);
        }
        assert!(!written(u32::MAX, "a").is_empty());
    }
}
