//! Placement of values among the pieces of a page.

use super::super::glyph::is_text;
use super::super::piece::Piece;
use super::value::Value;
use crate::blocks::one_line;

/// Size of the text of a page without any, in points.
const DEFAULT_SIZE: f32 = 10.0;
/// Minimum height of a field of several lines, in ems.
const TALL: f32 = 2.5;
/// Maximum distance of a field's baseline from that of the text beside it, in ems.
const SAME_LINE: f32 = 0.6;
/// Distance of the lines of a value, in ems.
const LINE: f32 = 1.2;
/// Maximum distance of a box from its label, in ems.
const LABEL_GAP: f32 = 1.5;

/// Area of a widget in points; `y` grows upwards.
#[derive(Debug)]
pub(super) struct Area {
    x0: f32,
    y0: f32,
    x1: f32,
    y1: f32,
}

impl Area {
    /// Returns the area between two opposite corners; `None` for an empty one.
    pub(super) fn of(corners: [f64; 4]) -> Option<Self> {
        let [ax, ay, bx, by] = corners.map(|coordinate| coordinate as f32);
        let area = Self { x0: ax.min(bx), y0: ay.min(by), x1: ax.max(bx), y1: ay.max(by) };
        let finite = [ax, ay, bx, by].iter().all(|coordinate| coordinate.is_finite());
        (finite && area.x1 - area.x0 >= 1.0 && area.y1 - area.y0 >= 1.0).then_some(area)
    }

    /// Returns true if a part of the area is on the sheet, given by its left, bottom, right and top.
    pub(super) fn touches(&self, (left, bottom, right, top): (f32, f32, f32, f32)) -> bool {
        self.x1 > left.min(right) && self.x0 < left.max(right) && self.y1 > bottom.min(top) && self.y0 < bottom.max(top)
    }

    /// Returns the horizontal distance of a piece.
    fn distance(&self, piece: &Piece) -> f32 {
        (self.x0 - piece.x1).max(piece.x0 - self.x1).max(0.0)
    }
}

/// Returns the median size of the text.
pub(super) fn text_size(pieces: &[Piece]) -> f32 {
    let mut sizes: Vec<f32> = pieces.iter().map(|piece| piece.size).collect();
    sizes.sort_by(f32::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(DEFAULT_SIZE)
}

/// Adds a value to the line of text beside its widget, or in lines of its own. It takes the size of that text, so that it is neither
/// a heading nor apart from its label. `size` is that of other text.
pub(super) fn add(value: &Value, area: &Area, size: f32, pieces: &mut Vec<Piece>) {
    let height = area.y1 - area.y0;
    // Viewers centre a single line, and begin several at the top.
    let baseline = if height < TALL * size { area.y0 + height / 2.0 - 0.3 * size } else { area.y1 - 1.1 * size };
    let beside = pieces
        .iter()
        .filter(|piece| (piece.y - baseline).abs() <= SAME_LINE * size)
        .min_by(|a, b| area.distance(a).total_cmp(&area.distance(b)));
    let (mut y, size) = beside.map_or((baseline, size), |piece| (piece.y, piece.size));
    for line in value.text().lines() {
        let text: String = line.chars().filter(|c| is_text(*c)).collect();
        let text = one_line(&text);
        if text.is_empty() {
            continue;
        }
        let width = (text.chars().count() as f32 * size * 0.5).min(area.x1 - area.x0);
        let piece = Piece { text, x0: area.x0, x1: area.x0 + width, y, size, bold: false };
        insert(piece, matches!(value, Value::Box { .. }), pieces);
        y -= LINE * size;
    }
}

/// Inserts a piece into the line of its baseline. A box becomes a part of its label, if that is behind it.
fn insert(piece: Piece, is_box: bool, pieces: &mut Vec<Piece>) {
    let on_line = |other: &Piece| (other.y - piece.y).abs() < 0.1;
    let at = match pieces.iter().position(on_line) {
        Some(start) => {
            let before = |other: &&Piece| on_line(other) && other.x0 <= piece.x0;
            start + pieces[start..].iter().take_while(before).count()
        }
        None => pieces.iter().position(|other| other.y < piece.y).unwrap_or(pieces.len()),
    };
    let label =
        pieces.get_mut(at).filter(|next| is_box && on_line(next) && next.x0 - piece.x1 < LABEL_GAP * piece.size);
    match label {
        Some(label) => {
            label.text = format!("{} {}", piece.text, label.text);
            label.x0 = piece.x0;
        }
        None => pieces.insert(at, piece),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(text: &str, x0: f32, y: f32) -> Piece {
        Piece { text: text.into(), x0, x1: x0 + text.chars().count() as f32 * 5.0, y, size: 10.0, bold: false }
    }

    fn placed(values: &[(Value, [f64; 4])]) -> Vec<String> {
        let mut pieces = vec![piece("Title", 10.0, 720.0), piece("Name:", 10.0, 700.0), piece("Date:", 200.0, 700.0)];
        pieces.push(piece("End", 10.0, 600.0));
        for (value, corners) in values {
            add(value, &Area::of(*corners).expect("an area"), 10.0, &mut pieces);
        }
        pieces.into_iter().map(|piece| piece.text).collect()
    }

    #[test]
    fn values_are_read_beside_their_labels() {
        let text = |text: &str| Value::Text(text.into());
        assert_eq!(
            placed(&[(text("1 May"), [240.0, 695.0, 300.0, 711.0]), (text("Anna"), [50.0, 697.0, 150.0, 713.0])]),
            ["Title", "Name:", "Anna", "Date:", "1 May", "End"]
        );
        assert_eq!(
            placed(&[(text("first\nsecond\n\nthird"), [10.0, 620.0, 300.0, 680.0])]),
            ["Title", "Name:", "Date:", "first", "second", "third", "End"]
        );
    }

    #[test]
    fn boxes_precede_their_labels() {
        let boxed = |checked, x0| (Value::Box { checked }, [x0, 698.0, x0 + 10.0, 708.0]);
        assert_eq!(placed(&[boxed(true, -2.0), boxed(false, 188.0)]), ["Title", "☒ Name:", "☐ Date:", "End"]);
        assert_eq!(placed(&[boxed(true, 50.0)]), ["Title", "Name:", "☒", "Date:", "End"]);
    }

    #[test]
    fn empty_and_distant_areas_are_left_out() {
        assert!(Area::of([10.0, 10.0, 10.5, 20.0]).is_none() && Area::of([f64::NAN, 0.0, 5.0, 5.0]).is_none());
        let area = Area::of([50.0, 40.0, 10.0, 20.0]).expect("an area");
        assert!(area.touches((0.0, 0.0, 612.0, 792.0)) && !area.touches((100.0, 0.0, 612.0, 792.0)));
    }
}
