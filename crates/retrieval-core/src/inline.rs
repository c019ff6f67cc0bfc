//! Inline Markdown: emphasis, links, images, code spans, HTML tags, escapes, entities.
//!
//! Differs from CommonMark in details (see `markdown`): each search for a closing mark is bounded, or ends where the
//! next search begins, so that the work is linear on any input. A mark without its counterpart remains as text.

use std::collections::BTreeSet;
use std::ops::Range;

/// Search distance for the end of a code span, link destination or tag, in bytes.
const REACH: usize = 4_096;

/// Maximum nesting of parentheses in a link destination.
const MAX_NESTING: usize = 32;

/// Number of open emphasis marks that are considered for pairing.
const OPEN_EMPHASIS: usize = 16;

/// HTML elements whose tags are dropped. Anything else in angle brackets is text (`Vec<String>`).
const TAGS: [&str; 56] = [
    "a",
    "abbr",
    "b",
    "big",
    "blockquote",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "dd",
    "del",
    "details",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "hr",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "mark",
    "ol",
    "p",
    "picture",
    "pre",
    "q",
    "s",
    "section",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "tr",
    "u",
];

/// Elements that start a new line.
const BREAKS: [&str; 13] = ["br", "dd", "div", "dt", "h1", "h2", "h3", "h4", "h5", "h6", "li", "p", "tr"];

/// Labels of a document's link reference definitions, normalized by [`label`].
pub(crate) type Labels = BTreeSet<String>;

/// Normalizes a link label: case and white space are insignificant.
pub(crate) fn label(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Treatment of images.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Images {
    /// Replaced by their alternative text.
    AltText,
    Omitted,
}

/// Appends the readable text of `source` to `out`.
pub(crate) fn push_text(source: &str, labels: &Labels, images: Images, out: &mut String) {
    push_located(source, labels, images, &mut [], out);
}

/// Appends the readable text of `source` to `out`. Replaces each of `offsets`, which are in `source` and in order, by its place in
/// `out`. An offset between two marks gets that of the text after them.
pub(crate) fn push_located(source: &str, labels: &Labels, images: Images, offsets: &mut [usize], out: &mut String) {
    let mut parser = Parser {
        source,
        labels,
        images,
        // An offset at the start lies before a first mark.
        pieces: vec![Piece::Source(0..0)],
        brackets: Vec::new(),
        emphasis: Vec::new(),
        comment_end: 0,
    };
    parser.parse();
    let mut offsets = offsets.iter_mut().peekable();
    for piece in &parser.pieces {
        match piece {
            Piece::Source(range) => {
                while let Some(offset) = offsets.next_if(|offset| **offset <= range.end) {
                    *offset = out.len() + offset.saturating_sub(range.start);
                }
                out.push_str(&source[range.clone()]);
            }
            Piece::Character(character) => out.push(*character),
            Piece::Marks(mark, count) => out.extend(std::iter::repeat_n(*mark, *count)),
            Piece::Dropped => {}
        }
    }
    offsets.for_each(|offset| *offset = out.len());
}

enum Piece {
    Source(Range<usize>),
    Character(char),
    /// Run of emphasis marks; the count is of those without a partner.
    Marks(char, usize),
    Dropped,
}

/// Opening bracket of a link or an image.
struct Bracket {
    piece: usize,
    /// Start of the text.
    text: usize,
    is_image: bool,
}

struct Parser<'a> {
    source: &'a str,
    labels: &'a Labels,
    images: Images,
    pieces: Vec<Piece>,
    brackets: Vec<Bracket>,
    /// Indexes of pieces with emphasis marks that may open.
    emphasis: Vec<usize>,
    /// First end of a comment at or after the last position searched from, or the length of the source.
    comment_end: usize,
}

impl Parser<'_> {
    fn parse(&mut self) {
        let mut at = 0;
        while at < self.source.len() {
            let rest = &self.source[at..];
            let plain = rest.find(['\\', '`', '*', '_', '~', '!', '[', ']', '<', '&']).unwrap_or(rest.len());
            if plain > 0 {
                self.pieces.push(Piece::Source(at..at + plain));
                at += plain;
                continue;
            }
            at += match rest.as_bytes()[0] {
                b'\\' => self.escape(rest),
                b'`' => self.code(at),
                b'*' | b'_' | b'~' => self.emphasis(at),
                b'!' if rest.starts_with("![") => self.open(at, 2),
                b'[' => self.open(at, 1),
                b']' => self.close(at),
                b'<' => self.tag(at),
                b'&' => self.entity(at),
                _ => self.keep(at, 1),
            };
        }
    }

    /// Keeps `length` bytes as text.
    fn keep(&mut self, at: usize, length: usize) -> usize {
        self.pieces.push(Piece::Source(at..at + length));
        length
    }

    fn escape(&mut self, rest: &str) -> usize {
        match rest[1..].chars().next() {
            Some(character) if character.is_ascii_punctuation() => {
                self.pieces.push(Piece::Character(character));
                2
            }
            // A backslash at the end of a line is a line break.
            Some('\n') => 1,
            _ => {
                self.pieces.push(Piece::Character('\\'));
                1
            }
        }
    }

    fn code(&mut self, at: usize) -> usize {
        let bytes = self.source.as_bytes();
        let run = |from: usize| bytes[from..].iter().take_while(|byte| **byte == b'`').count();
        let length = run(at);
        let limit = bytes.len().min(at + length + REACH);
        let mut from = at + length;
        while let Some(found) = bytes[from.min(limit)..limit].iter().position(|byte| *byte == b'`') {
            let close = from + found;
            let closing = run(close);
            if closing == length {
                let inner = &self.source[at + length..close];
                // One space on both sides only separates inner backticks from the marks.
                let padded = inner.len() > 2 && inner.starts_with(' ') && inner.ends_with(' ');
                let trim = usize::from(padded);
                self.pieces.push(Piece::Source(at + length + trim..close - trim));
                return close + closing - at;
            }
            from = close + closing;
        }
        self.keep(at, length)
    }

    fn emphasis(&mut self, at: usize) -> usize {
        let rest = &self.source[at..];
        let mark = char::from(rest.as_bytes()[0]);
        let length = rest.len() - rest.trim_start_matches(mark).len();
        if mark == '~' && length != 2 {
            return self.keep(at, length);
        }
        let before = self.source[..at].chars().next_back().unwrap_or(' ');
        let after = rest[length..].chars().next().unwrap_or(' ');
        // Inside a word and at the wrong end of one `_` is a letter: snake_case, __init__.py.
        let may_open = !(after.is_whitespace() || mark == '_' && before.is_alphanumeric());
        let may_close = !(before.is_whitespace() || mark == '_' && after.is_alphanumeric());
        let mut remaining = length;
        if may_close {
            let mut skipped = 0;
            while remaining > 0 && skipped < OPEN_EMPHASIS && skipped < self.emphasis.len() {
                let index = self.emphasis.len() - 1 - skipped;
                let Piece::Marks(opener, count) = &mut self.pieces[self.emphasis[index]] else { break };
                if *opener == mark {
                    let pairs = remaining.min(*count);
                    *count -= pairs;
                    remaining -= pairs;
                    // Marks opened inside and not closed are text.
                    let keep = index + usize::from(*count > 0);
                    self.emphasis.truncate(keep);
                    skipped = 0;
                    if remaining == 0 || keep == index + 1 {
                        break;
                    }
                } else {
                    skipped += 1;
                }
            }
        }
        if remaining > 0 {
            if may_open {
                self.emphasis.push(self.pieces.len());
            }
            self.pieces.push(Piece::Marks(mark, remaining));
        }
        length
    }

    fn open(&mut self, at: usize, length: usize) -> usize {
        self.brackets.push(Bracket { piece: self.pieces.len(), text: at + length, is_image: length > 1 });
        self.keep(at, length)
    }

    fn close(&mut self, at: usize) -> usize {
        let Some(Bracket { piece, text, is_image }) = self.brackets.pop() else { return self.keep(at, 1) };
        let rest = &self.source[at + 1..];
        let destination = match rest.as_bytes().first() {
            Some(b'(') => destination_length(rest),
            Some(b'[') => self.reference_length(rest, text..at),
            _ => None,
        };
        let destination = destination.or_else(|| self.is_label(text..at).then_some(0));
        match destination {
            Some(length) => {
                if self.images == Images::Omitted && is_image {
                    self.remove_from(piece);
                } else {
                    self.pieces[piece] = Piece::Dropped;
                }
                1 + length
            }
            None => self.keep(at, 1),
        }
    }

    /// Removes this piece and all after it.
    fn remove_from(&mut self, piece: usize) {
        self.pieces.truncate(piece);
        while self.emphasis.last().is_some_and(|&open| open >= piece) {
            self.emphasis.pop();
        }
    }

    /// Returns the length of `[label]` or `[]` after a link's text if the label is defined.
    fn reference_length(&self, rest: &str, text: Range<usize>) -> Option<usize> {
        let end = bounded(rest).find(']')?;
        let label = &rest[1..end];
        let defined = if label.is_empty() { self.is_label(text) } else { self.labels.contains(&self::label(label)) };
        defined.then_some(end + 1)
    }

    fn is_label(&self, range: Range<usize>) -> bool {
        // Labels contain no brackets. Without this check, each of a million nested brackets would look up its whole
        // content.
        let text = &self.source[range];
        !self.labels.is_empty() && text.len() <= 1_000 && !text.contains('[') && self.labels.contains(&label(text))
    }

    fn tag(&mut self, at: usize) -> usize {
        let rest = bounded(&self.source[at..]);
        if rest.starts_with("<!--") {
            if self.comment_end <= at {
                self.comment_end = self.source[at..].find("-->").map_or(self.source.len(), |found| at + found);
            }
            if self.comment_end < self.source.len() {
                return self.comment_end + 3 - at;
            }
        }
        // The next `<` ends the search: it may begin a tag of its own.
        let end = rest[1..].find(['<', '>']).map(|found| found + 1).filter(|end| rest[*end..].starts_with('>'));
        let Some(end) = end else { return self.keep(at, 1) };
        let inner = &rest[1..end];
        let is_link = ["http://", "https://", "mailto:", "ftp://"].iter().any(|scheme| inner.starts_with(scheme));
        if !inner.contains(char::is_whitespace) && (is_link || (inner.contains('@') && !inner.contains('"'))) {
            self.pieces.push(Piece::Source(at + 1..at + end));
            return end + 1;
        }
        let name = inner.strip_prefix('/').unwrap_or(inner);
        let name = &name[..name.bytes().take_while(u8::is_ascii_alphanumeric).count()];
        let follows = inner.trim_start_matches('/')[name.len()..].bytes().next();
        let name = name.to_ascii_lowercase();
        if TAGS.binary_search(&&*name).is_err()
            || !follows.is_none_or(|byte| byte == b'/' || byte.is_ascii_whitespace())
        {
            return self.keep(at, 1);
        }
        if BREAKS.binary_search(&&*name).is_ok() && !inner.starts_with('/') && at > 0 {
            self.pieces.push(Piece::Character('\n'));
        }
        let sign = match inner {
            "sup" => '^',
            "sub" => '_',
            _ => return end + 1,
        };
        if self.is_between_digits(at, at + end + 1) {
            self.pieces.push(Piece::Character(sign));
        }
        end + 1
    }

    /// Returns true if a tag separates two numbers, which without it would be one: `10<sup>6</sup>`.
    fn is_between_digits(&self, start: usize, end: usize) -> bool {
        let before = self.source[..start].trim_end_matches(['*', '_']);
        let after = &self.source[end..];
        let number = after.strip_prefix(['-', '+', '−', '–']).unwrap_or(after);
        before.ends_with(|c: char| c.is_ascii_digit()) && number.starts_with(|c: char| c.is_ascii_digit())
    }

    fn entity(&mut self, at: usize) -> usize {
        let rest = &self.source.as_bytes()[at..];
        // The longest supported entity is `&#x10FFFF;`.
        let Some(end) = rest.iter().take(11).position(|byte| *byte == b';') else { return self.keep(at, 1) };
        let name = &self.source[at + 1..at + end];
        let numbered = |number: &str| match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None => number.parse().ok(),
        };
        let character = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            "nbsp" => Some(' '),
            "ndash" => Some('–'),
            "mdash" => Some('—'),
            "hellip" => Some('…'),
            "copy" => Some('©'),
            _ => name.strip_prefix('#').and_then(numbered).and_then(char::from_u32).filter(|found| !found.is_control()),
        };
        match character {
            Some(character) => {
                self.pieces.push(Piece::Character(character));
                end + 1
            }
            None => self.keep(at, 1),
        }
    }
}

/// Returns the length of `(destination "title")` at the start of `rest`.
fn destination_length(rest: &str) -> Option<usize> {
    let bytes = bounded(rest).as_bytes();
    let (mut depth, mut at, mut quote, mut angle) = (0_usize, 0, None, false);
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b'\\' => at += 1,
            b'\n' if bytes.get(at + 1) == Some(&b'\n') => return None,
            _ if quote.is_some() => quote = quote.filter(|open| *open != byte),
            b'>' => angle = false,
            b'<' | b'\n' if angle => return None,
            _ if angle => {}
            b'<' if depth == 1 && bytes[at - 1] == b'(' => angle = true,
            // A title follows white space; a quote inside a destination is an ordinary character.
            b'"' | b'\'' if bytes[at - 1].is_ascii_whitespace() => quote = Some(byte),
            b'(' if depth == MAX_NESTING => return None,
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn bounded(text: &str) -> &str {
    &text[..text.floor_char_boundary(REACH)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(source: &str) -> String {
        let out = parse(source, Images::AltText);
        assert!(parse(source, Images::Omitted).len() <= out.len());
        out
    }

    fn parse(source: &str, images: Images) -> String {
        let labels = Labels::from([label("Ref")]);
        let mut out = String::new();
        push_text(source, &labels, images, &mut out);
        out
    }

    #[test]
    fn images_can_be_omitted() {
        for (source, expected) in [
            ("before ![*alt* `text`](img.png) *after*", "before  after"),
            ("[![badge](a)](b) [a ![b](c) d](e)", " a  d"),
            ("**![a](b) c**", " c"),
            ("Wow\\![link](u)", "Wow!link"),
            ("![a ![b](c) d](e)", ""),
            ("![Ref] ![other]", " ![other]"),
        ] {
            assert_eq!(parse(source, Images::Omitted), expected, "{source}");
        }
    }

    #[test]
    fn marks_are_removed_and_text_is_kept() {
        assert!(TAGS.is_sorted() && BREAKS.is_sorted(), "required by binary search");
        for (source, expected) in [
            ("plain", "plain"),
            ("*a* **b** ***c*** _d_ __e__", "a b c d e"),
            ("**bold *nested* text**", "bold nested text"),
            ("un*believ*able snake_case_name 2 * 3 * 4", "unbelievable snake_case_name 2 * 3 * 4"),
            ("5*3 and **open", "5*3 and **open"),
            ("a_ and b_ _c_. (_d_)", "a_ and b_ c. (d)"),
            ("~~gone~~ ~5", "gone ~5"),
            ("[link](http://x/a_(b) \"title (1)\") after", "link after"),
            ("[**bold** link](<a b>)", "bold link"),
            ("![alt text](img.png)![](x)", "alt text"),
            ("[![badge](a)](b)", "badge"),
            ("[see][ref] [Ref] [ref][] [other] [x][y] [ ] [^1]", "see Ref ref [other] [x][y] [ ] [^1]"),
            ("[open](never", "[open](never"),
            ("`code *kept* _x_` and ``a ` b``", "code *kept* _x_ and a ` b"),
            ("`` `x` `` `open", "`x` `open"),
            ("\\*not\\* C:\\dir", "*not* C:\\dir"),
            ("a<br>b <b>c</b> Vec<String> 1 < 2 > 0", "a\nb c Vec<String> 1 < 2 > 0"),
            ("<https://x.y/z> <me@x.y> x<!-- no -->y", "https://x.y/z me@x.y xy"),
            ("<!-- toc --> a<!---->b <!--", " ab <!--"),
            ("a &amp; b &#228; &#x1F600; &unknown; AT&T &lt;b&gt;", "a & b ä 😀 &unknown; AT&T <b>"),
            ("日本*語*です", "日本語です"),
            ("10<sup>6</sup> **2**<sup>10</sup> 10<sup>−3</sup> 10<sub>2</sub>", "10^6 2^10 10^−3 10_2"),
            ("1<sup>st</sup> word<sup>1</sup> H<sub>2</sub>O 2<sup", "1st word1 H2O 2<sup"),
        ] {
            assert_eq!(text(source), expected, "{source}");
        }
    }

    #[test]
    fn adversarial_marks_stay_linear() {
        for unit in ["[", "](", "*a", "_", "**a*", "`", "`a``", "<", "<a", "&", "![", "\\", "[a](", "[]()", "~~", "*_"]
        {
            let source = unit.repeat(60_000 / unit.len());
            let out = text(&source);
            assert!(out.len() <= source.len(), "{unit}");
        }
        // Runs of backticks of every length, none of which closes another.
        let runs: String = (1..900).map(|length| "`".repeat(length) + " ").collect();
        assert_eq!(text(&runs), runs);
    }

    proptest! {
        #[test]
        fn output_is_never_longer_than_the_source(source in "[*_~`\\[\\]()!<>&;#/a-c é\"'\\\\\n]{0,80}") {
            prop_assert!(text(&source).len() <= source.len());
        }
    }
}
