//! Term vectors as bytes, to be stored and ranked later without the text.
//!
//! Stems are fixed-width hashes; everything else is a sequence of LEB128 numbers. A list begins with its length. Numbers
//! that rise are stored as differences. A token is its stem id, shifted left by one bit. The lowest bit says that the
//! token does not advance by one position; the bits of its step then follow in a byte. A stem of a field without positions is
//! its id, shifted left by one bit. The lowest bit says that it is a second stem of the word before.

use super::term_vector::{FieldStem, NEXT_STEP, TermToken, TermVector, Unit};
use crate::analysis::Language;
use crate::varint;

/// Version of stored term vectors. Store it beside the bytes, and read only bytes of this version.
///
/// Raise it with every change after which the same document has other bytes or the same bytes mean something else: in
/// the analysis of documents, in [`TermVector::of_prefix`], in [`DocumentText::key`](super::DocumentText::key), or in this format.
pub const TERMS_VERSION: u32 = 5;

/// Maximum number of passages of a vector that can be decoded: ranking allocates memory for each, also for those that were
/// not analysed. A content that is stored in one piece has at most half as many.
const MAX_PASSAGES: usize = 1 << 17;

impl TermVector {
    /// Encodes the vector for [`from_bytes`](Self::from_bytes).
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.title.len() + self.body.len() + self.description.len();
        let mut out = Vec::with_capacity(64 + 8 * self.stems.len() + 2 * words);
        let language = self.language.map_or("", Language::code);
        push(&mut out, language.len());
        out.extend_from_slice(language.as_bytes());
        [self.content_bytes, self.analysed, self.passages].into_iter().for_each(|number| push(&mut out, number));

        push(&mut out, self.stems.len());
        self.stems.iter().for_each(|hash| out.extend_from_slice(&hash.to_le_bytes()));
        push_tokens(&mut out, &self.title);
        push_tokens(&mut out, &self.body);
        push(&mut out, self.loose.len());
        let mut next = 0;
        for (token, stem) in &self.loose {
            varint::push(&mut out, u64::from(token - next));
            varint::push(&mut out, u64::from(*stem));
            next = token + 1;
        }
        push_stems(&mut out, &self.description);

        push(&mut out, self.headings.len());
        self.headings.iter().for_each(|heading| push_stems(&mut out, heading));
        push(&mut out, self.units.len());
        let mut before = Unit { byte_end: 0, token_end: 0, path_end: 0 };
        for unit in &self.units {
            push(&mut out, unit.byte_end - before.byte_end);
            varint::push(&mut out, u64::from(unit.token_end - before.token_end));
            varint::push(&mut out, u64::from(unit.path_end - before.path_end));
            before = *unit;
        }
        push_ids(&mut out, &self.paths);
        out
    }

    /// Decodes the output of [`to_bytes`](Self::to_bytes) of the same [`TERMS_VERSION`]. `None` for any bytes that ranking
    /// could not work with. Memory is bounded by a multiple of their length.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader(bytes);
        let language = reader.language()?;
        let (content_bytes, analysed, passages) = (reader.size()?, reader.size()?, reader.size()?);
        let stems = reader.stems()?;
        let (title, body) = (reader.tokens(stems.len())?, reader.tokens(stems.len())?);
        let loose = reader.loose(title.len() + body.len(), stems.len())?;
        let description = reader.field(stems.len())?;
        let headings = reader.list(1, |reader| reader.field(stems.len()))?;
        let units = reader.units()?;
        let paths = reader.ids(headings.len())?;
        let last = units.last().copied();
        let ends_fit =
            last.is_none_or(|last| last.token_end as usize <= body.len() && last.path_end as usize <= paths.len());
        let is_sound = ends_fit && passages <= MAX_PASSAGES && units.len() <= passages.max(1) && reader.0.is_empty();
        is_sound.then(|| Self {
            language,
            stems: stems.into(),
            loose: loose.into(),
            title: title.into(),
            body: body.into(),
            description,
            headings,
            units: units.into(),
            paths,
            passages,
            content_bytes,
            analysed,
        })
    }
}

fn push(out: &mut Vec<u8>, number: usize) {
    varint::push(out, number as u64);
}

fn push_ids(out: &mut Vec<u8>, ids: &[u32]) {
    push(out, ids.len());
    ids.iter().for_each(|id| varint::push(out, u64::from(*id)));
}

fn push_stems(out: &mut Vec<u8>, stems: &[FieldStem]) {
    push(out, stems.len());
    stems.iter().for_each(|stem| varint::push(out, u64::from(stem.bits())));
}

fn push_tokens(out: &mut Vec<u8>, tokens: &[TermToken]) {
    push(out, tokens.len());
    for token in tokens {
        let (stem, step) = (u64::from(token.stem()), token.step_bits());
        varint::push(out, stem << 1 | u64::from(step != NEXT_STEP));
        if step != NEXT_STEP {
            out.push(step);
        }
    }
}

/// Bytes that are left to decode.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn size(&mut self) -> Option<usize> {
        usize::try_from(varint::take(&mut self.0)?).ok()
    }

    fn number(&mut self) -> Option<u32> {
        u32::try_from(varint::take(&mut self.0)?).ok()
    }

    /// Returns a number below `end`.
    fn id(&mut self, end: usize) -> Option<u32> {
        self.number().filter(|id| (*id as usize) < end)
    }

    /// Returns a list whose items have at least `bytes` bytes each. A length beyond the rest of the bytes allocates nothing.
    fn list<T>(&mut self, bytes: usize, mut item: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.size()?;
        if length > self.0.len() / bytes {
            return None;
        }
        let mut items = Vec::with_capacity(length);
        for _ in 0..length {
            items.push(item(self)?);
        }
        Some(items)
    }

    fn language(&mut self) -> Option<Option<Language>> {
        let length = self.size()?;
        let (code, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        if code.is_empty() {
            return Some(None);
        }
        Some(Some(Language::from_code(str::from_utf8(code).ok()?)?))
    }

    fn stems(&mut self) -> Option<Vec<u64>> {
        self.list(8, |reader| {
            let (hash, rest) = reader.0.split_first_chunk()?;
            reader.0 = rest;
            Some(u64::from_le_bytes(*hash))
        })
    }

    fn ids(&mut self, end: usize) -> Option<Box<[u32]>> {
        self.list(1, |reader| reader.id(end)).map(Vec::into)
    }

    /// Returns the stems of a field without positions.
    fn field(&mut self, stems: usize) -> Option<Box<[FieldStem]>> {
        let field = self.list(1, |reader| {
            let stem = FieldStem::from_bits(reader.number()?);
            ((stem.stem() as usize) < stems).then_some(stem)
        });
        field.map(Vec::into)
    }

    fn tokens(&mut self, stems: usize) -> Option<Vec<TermToken>> {
        self.list(1, |reader| {
            let number = varint::take(&mut reader.0)?;
            let stem = u32::try_from(number >> 1).ok().filter(|stem| (*stem as usize) < stems)?;
            let step = if number & 1 == 0 { NEXT_STEP } else { reader.byte()? };
            TermToken::from_bits(stem, step)
        })
    }

    fn loose(&mut self, tokens: usize, stems: usize) -> Option<Vec<(u32, u32)>> {
        let mut next = 0_u32;
        self.list(2, |reader| {
            let token = next.checked_add(reader.number()?).filter(|token| (*token as usize) < tokens)?;
            next = token.checked_add(1)?;
            Some((token, reader.id(stems)?))
        })
    }

    /// Returns the units, whose ends rise.
    fn units(&mut self) -> Option<Vec<Unit>> {
        let mut before = Unit { byte_end: 0, token_end: 0, path_end: 0 };
        self.list(3, |reader| {
            before = Unit {
                byte_end: before.byte_end.checked_add(reader.size()?)?,
                token_end: before.token_end.checked_add(reader.number()?)?,
                path_end: before.path_end.checked_add(reader.number()?)?,
            };
            Some(before)
        })
    }
}
