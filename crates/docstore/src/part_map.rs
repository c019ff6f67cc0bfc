//! Directory of a long content.

use std::ops::Range;

use diesel::deserialize::FromSqlRow;
use diesel::expression::AsExpression;
use diesel::sql_types::Text;

/// Position in a content, at the start of a passage.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Mark {
    /// Number of passages before it.
    pub passage: usize,
    pub char: usize,
    pub byte: usize,
}

/// Directory of a content that is stored in parts. Passages never cross a boundary between parts.
#[derive(AsExpression, Clone, Debug, Eq, FromSqlRow, PartialEq)]
#[diesel(sql_type = Text)]
pub struct PartMap {
    /// Version of the analysis that the stored terms come from.
    pub analysis: u32,
    /// Start of each part, and the end of the content.
    marks: Vec<Mark>,
}

impl PartMap {
    /// Divides a content of more than `whole` characters into parts of at least `part` characters. `ends` are the ends of
    /// its passages, in order.
    pub(crate) fn divide(
        content: &str,
        ends: impl Iterator<Item = Mark>,
        analysis: u32,
        whole: usize,
        part: usize,
    ) -> Option<Self> {
        if content.len() <= whole {
            return None;
        }
        let mut marks = vec![Mark::default()];
        let mut last = Mark::default();
        for end in ends.filter(|end| content.is_char_boundary(end.byte)) {
            if end.byte <= last.byte {
                continue;
            }
            last = end;
            if end.char >= marks[marks.len() - 1].char + part {
                marks.push(last);
            }
        }
        let end =
            Mark { passage: last.passage, char: last.char + content[last.byte..].chars().count(), byte: content.len() };
        if end.char <= whole {
            return None;
        }
        // Too little for a part of its own, or nothing.
        if marks.len() > 1 && end.char < marks[marks.len() - 1].char + part / 4 {
            marks.pop();
        }
        marks.push(end);
        (marks.len() > 2).then_some(Self { analysis, marks })
    }

    /// Returns the number of parts, at least two.
    pub fn count(&self) -> usize {
        self.marks.len() - 1
    }

    /// Returns the end of the content.
    pub fn end(&self) -> Mark {
        self.marks[self.marks.len() - 1]
    }

    /// Returns the start of a part; beyond the last one, the end of the content.
    pub fn start(&self, part: usize) -> Mark {
        self.marks.get(part).copied().unwrap_or(self.end())
    }

    /// Returns the start bytes of the parts.
    pub fn start_bytes(&self) -> Vec<usize> {
        self.marks[..self.count()].iter().map(|mark| mark.byte).collect()
    }

    /// Returns the length of parts in bytes.
    pub fn bytes(&self, parts: Range<usize>) -> usize {
        self.start(parts.end).byte.saturating_sub(self.start(parts.start).byte)
    }

    /// Returns the part that contains a passage.
    pub fn part_of_passage(&self, ordinal: usize) -> usize {
        self.find(|mark| mark.passage <= ordinal)
    }

    /// Returns the parts that contain a range of characters.
    pub fn parts_of_chars(&self, chars: &Range<usize>) -> Range<usize> {
        if chars.start >= chars.end.min(self.end().char) {
            return 0..0;
        }
        self.find(|mark| mark.char <= chars.start)..self.find(|mark| mark.char < chars.end) + 1
    }

    /// Returns the first parts, which contain this many bytes, or the whole content if it is shorter.
    pub fn first_parts(&self, bytes: usize) -> usize {
        self.marks[1..].partition_point(|mark| mark.byte < bytes).min(self.count() - 1) + 1
    }

    /// Returns the last part whose start meets the condition.
    fn find(&self, meets: impl Fn(&Mark) -> bool) -> usize {
        self.marks[..self.count()].partition_point(meets).saturating_sub(1)
    }

    /// Returns the marks as a JSON value: the version, then three numbers for each mark.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let numbers = self.marks.iter().flat_map(|mark| [mark.passage, mark.char, mark.byte]);
        [self.analysis as usize].into_iter().chain(numbers).collect()
    }

    /// Parses [`to_json`](Self::to_json). `None` unless the marks rise and there are at least two parts.
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        let numbers: Vec<usize> = serde_json::from_str(text).ok()?;
        let (analysis, numbers) = numbers.split_first()?;
        let (triples, []) = numbers.as_chunks::<3>() else { return None };
        let marks: Vec<Mark> =
            triples.iter().map(|[passage, char, byte]| Mark { passage: *passage, char: *char, byte: *byte }).collect();
        let rises = marks.is_sorted_by(|one, other| one.byte < other.byte && one.char < other.char);
        let starts = marks.first() == Some(&Mark::default());
        (marks.len() > 2 && rises && starts).then_some(Self { analysis: u32::try_from(*analysis).ok()?, marks })
    }
}
