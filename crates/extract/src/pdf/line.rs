//! Lines of a region.

use super::columns::reads_from_right;
use super::piece::{Piece, is_spaceless};

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

/// Appends a line to text. Rejoins hyphenated words; scripts without spaces get no space.
pub(super) fn join(text: &mut String, line: &str) {
    let (Some(last), Some(next)) = (text.chars().next_back(), line.chars().next()) else {
        text.push_str(line);
        return;
    };
    if matches!(last, '-' | '\u{2010}') && next.is_lowercase() {
        let before = text.trim_end_matches(['-', '\u{2010}']).chars().next_back();
        if before.is_some_and(char::is_alphabetic) {
            text.pop();
            text.push_str(line);
            return;
        }
    }
    if !(is_spaceless(last) && is_spaceless(next)) {
        text.push(' ');
    }
    text.push_str(line);
}
