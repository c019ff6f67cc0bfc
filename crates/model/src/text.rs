/// Matches the marks of text direction: the code points with the property Bidi_Control.
///
/// They reorder what a reader sees, so that a name or an address of others can pass for another one.
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_of_direction_are_those_of_unicode() {
        let marks: Vec<u32> = ('\0'..=char::MAX).filter(|c| is_bidi_control(*c)).map(u32::from).collect();
        let expected = [0x61c, 0x200e, 0x200f, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];
        assert_eq!(marks, expected);
    }
}
