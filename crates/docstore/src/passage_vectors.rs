//! Format of the stored vectors of a capture: a version, the number of components, and a record of fixed length per passage.

/// Version of the format. Vectors of other versions are embedded again.
const VERSION: u8 = 1;
const HEADER: usize = 3;
const DIGEST: usize = 16;

/// Vector of a passage, with 8 bits per component.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PassageVector {
    pub ordinal: u32,
    /// First 16 bytes of the SHA-256 digest of the embedded text.
    pub digest: [u8; DIGEST],
    /// All 0 if the model knows nothing of the text.
    pub codes: Box<[i8]>,
}

/// Encodes vectors, which are in order of their ordinals. `None` unless all have the same number of components, at most 65,535.
pub(crate) fn encode(passages: &[PassageVector]) -> Option<Vec<u8>> {
    let dimensions = passages.first().map_or(0, |passage| passage.codes.len());
    let mut bytes = Vec::with_capacity(HEADER + passages.len() * (4 + DIGEST + dimensions));
    bytes.push(VERSION);
    bytes.extend(u16::try_from(dimensions).ok()?.to_le_bytes());
    for passage in passages {
        if passage.codes.len() != dimensions || dimensions == 0 {
            return None;
        }
        bytes.extend(passage.ordinal.to_le_bytes());
        bytes.extend(passage.digest);
        bytes.extend(passage.codes.iter().map(|code| code.cast_unsigned()));
    }
    Some(bytes)
}

/// Decodes [`encode`]. `None` for another version and for damaged bytes.
pub(crate) fn decode(bytes: &[u8]) -> Option<Vec<PassageVector>> {
    let ([VERSION, low, high], records) = bytes.split_first_chunk::<HEADER>()? else { return None };
    let dimensions = usize::from(u16::from_le_bytes([*low, *high]));
    if records.is_empty() {
        return Some(Vec::new());
    }
    let length = 4 + DIGEST + dimensions;
    if dimensions == 0 || !records.len().is_multiple_of(length) {
        return None;
    }
    let mut passages: Vec<PassageVector> = Vec::with_capacity(records.len() / length);
    for record in records.chunks_exact(length) {
        let (ordinal, rest) = record.split_first_chunk::<4>()?;
        let (digest, codes) = rest.split_first_chunk::<DIGEST>()?;
        let ordinal = u32::from_le_bytes(*ordinal);
        if passages.last().is_some_and(|last| last.ordinal >= ordinal) {
            return None;
        }
        let codes = codes.iter().map(|code| code.cast_signed()).collect();
        passages.push(PassageVector { ordinal, digest: *digest, codes });
    }
    Some(passages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passage(ordinal: u32, codes: &[i8]) -> PassageVector {
        PassageVector { ordinal, digest: [ordinal as u8; DIGEST], codes: codes.into() }
    }

    #[test]
    fn vectors_survive_storage() {
        let stored = |passages: &[PassageVector]| encode(passages).and_then(|bytes| decode(&bytes));
        let passages = [passage(0, &[127, -127, 0]), passage(7, &[1, 2, -128])];
        assert_eq!(stored(&passages).as_deref(), Some(&passages[..]));
        assert_eq!(stored(&[]), Some(Vec::new()));
    }

    #[test]
    fn vectors_of_different_lengths_are_not_stored() {
        assert_eq!(encode(&[passage(0, &[1, 2]), passage(1, &[1])]), None);
        assert_eq!(encode(&[passage(0, &[])]), None);
        assert_eq!(encode(&[passage(0, &[1; 70_000])]), None);
    }

    #[test]
    fn damaged_bytes_are_rejected() {
        let sound = encode(&[passage(1, &[1, 2]), passage(2, &[3, 4])]).unwrap_or_default();
        for length in 0..sound.len() {
            // The header alone, and the first record alone, are sound.
            let is_sound = length == HEADER || length == HEADER + 4 + DIGEST + 2;
            assert_eq!(decode(&sound[..length]).is_some(), is_sound, "{length}");
        }
        let changed = |position: usize, value: u8| {
            let mut bytes = sound.clone();
            bytes[position] = value;
            decode(&bytes)
        };
        assert_eq!(changed(0, 2), None, "another version");
        assert_eq!(changed(1, 0), None, "no components");
        assert_eq!(changed(2, 255), None, "more components than bytes");
        assert_eq!(changed(HEADER, 2), None, "two vectors of one passage");
    }
}
