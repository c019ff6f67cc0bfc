//! Bytes of the contents that a call reads.

/// Bytes of content that one call reads over all documents that the first stage found by words, and at most as many again over the
/// others. If they contain more, each is read up to the same length: a long document is judged by its beginning, and the time of a call
/// is bounded.
pub const READ_BYTES: usize = 2 * 1024 * 1024;

/// Bytes of each content that a call reads. Term vectors should [cover](super::TermVector::covers) them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReadingLimits {
    by_words: usize,
    others: usize,
}

impl ReadingLimits {
    /// Returns the limits given the length of each content, with true if the first stage found the document by words. The others do not
    /// shorten what is read of these, and are read no further. If none was found by words, all are read alike.
    pub fn of(documents: impl Iterator<Item = (usize, bool)>) -> Self {
        let (mut found, mut others) = (Vec::new(), Vec::new());
        for (content_bytes, by_words) in documents {
            if by_words { found.push(content_bytes) } else { others.push(content_bytes) }
        }
        let is_any_found = !found.is_empty();
        let (found, others) = (reading_limit(found.into_iter()), reading_limit(others.into_iter()));
        let by_words = if is_any_found { found } else { others };
        Self { by_words, others: others.min(by_words) }
    }

    /// Returns the bytes that are read of a content.
    pub fn limit(self, by_words: bool) -> usize {
        if by_words { self.by_words } else { self.others }
    }
}

/// Returns the bytes of each content that are read of documents found alike, given the lengths of all.
pub(super) fn reading_limit(content_bytes: impl Iterator<Item = usize>) -> usize {
    fair_share(content_bytes, READ_BYTES)
}

/// Returns the largest `limit` for which the lengths, each cut to `limit`, add up to at most `total`.
pub(super) fn fair_share(lengths: impl Iterator<Item = usize>, total: usize) -> usize {
    let mut lengths: Vec<usize> = lengths.collect();
    lengths.sort_unstable();
    let (mut left, mut count) = (total, lengths.len());
    for length in lengths {
        if length > left / count {
            return left / count;
        }
        left -= length;
        count -= 1;
    }
    usize::MAX
}
