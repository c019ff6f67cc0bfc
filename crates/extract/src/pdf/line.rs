//! Lines of a region.

use super::columns::reads_from_right;
use super::piece::Piece;
use super::script::is_spaceless;

/// Line of a region, with its pieces from left to right.
pub(super) struct Line {
    pub pieces: Vec<Piece>,
}

impl Line {
    pub(super) fn y(&self) -> f32 {
        self.pieces[0].y
    }

    pub(super) fn x0(&self) -> f32 {
        self.pieces[0].x0
    }

    pub(super) fn x1(&self) -> f32 {
        self.pieces[self.pieces.len() - 1].x1
    }

    pub(super) fn size(&self) -> f32 {
        let widest = self.pieces.iter().max_by(|a, b| a.width().total_cmp(&b.width()));
        widest.map_or(0.0, |piece| piece.size)
    }

    pub(super) fn bold(&self) -> bool {
        self.pieces.iter().all(|piece| piece.bold)
    }

    pub(super) fn text(&self) -> String {
        let mut texts: Vec<&str> = self.pieces.iter().map(|piece| piece.text.as_str()).collect();
        if reads_from_right(&self.pieces) {
            texts.reverse();
        }
        texts.join(" ")
    }
}

/// Words behind the hyphen of a suspended part of a compound, as in "Vor- und Nachteile".
const CONJUNCTIONS: [&str; 15] =
    ["und", "oder", "bzw", "bzw.", "sowie", "bis", "and", "or", "to", "en", "of", "och", "eller", "y", "e"];

/// Returns true for a line that begins with a conjunction as a word of its own.
fn begins_with_conjunction(line: &str) -> bool {
    line.split_once(' ').is_some_and(|(word, _)| CONJUNCTIONS.contains(&word))
}

/// Appends a line to text. Rejoins hyphenated words; scripts without spaces get no space.
pub(super) fn join(text: &mut String, line: &str) {
    let (Some(last), Some(next)) = (text.chars().next_back(), line.chars().next()) else {
        text.push_str(line);
        return;
    };
    let is_hyphen = matches!(last, '-' | '\u{2010}');
    if is_hyphen && next.is_lowercase() {
        let before = text.trim_end_matches(['-', '\u{2010}']).chars().next_back();
        if before.is_some_and(char::is_alphabetic) && !begins_with_conjunction(line) {
            text.pop();
            text.push_str(line);
            return;
        }
    }
    // The hyphen of a compound or of a range stays, without a space.
    let is_compound = is_hyphen
        && text.chars().nth_back(1).is_some_and(char::is_alphanumeric)
        && (next.is_numeric() || next.is_uppercase() || (next.is_lowercase() && !begins_with_conjunction(line)));
    let runs_on = is_compound || (is_spaceless(last) && is_spaceless(next));
    if !runs_on {
        text.push(' ');
    }
    text.push_str(line);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspended_hyphens_stay() {
        for (text, line, joined) in [
            ("Wir nennen Vor-", "und Nachteile", "Wir nennen Vor- und Nachteile"),
            ("pre-", "and postoperative", "pre- and postoperative"),
            ("Ein-", "bzw. Ausfuhr", "Ein- bzw. Ausfuhr"),
            ("the para-", "graph goes", "the paragraph goes"),
            ("the hus-", "band and", "the husband and"),
            ("a thous-", "and", "a thousand"),
            ("of COVID-", "19 patients", "of COVID-19 patients"),
            ("in Baden-", "Württemberg", "in Baden-Württemberg"),
            ("in 2020-", "2021", "in 2020-2021"),
            ("a 19-", "year-old", "a 19-year-old"),
            ("10-", "to 20-fold", "10- to 20-fold"),
            ("the end -", "No", "the end - No"),
            ("the end--", "No", "the end-- No"),
            ("-", "5", "- 5"),
        ] {
            let mut out = text.to_owned();
            join(&mut out, line);
            assert_eq!(out, joined);
        }
    }
}
