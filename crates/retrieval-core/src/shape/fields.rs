//! Optional parts of a hit, and the verbosity at which each is shown.

use std::fmt;

/// Amount of detail that a caller wants of each hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verbosity {
    /// Rank, document id, URL and title; no `access` block.
    IdsOnly,
    /// Adds snippet, score, index, name and dates.
    Compact,
    /// Adds passages, description, type, sources, labels and all metadata.
    Standard,
    /// Adds provenance.
    Full,
}

impl Verbosity {
    /// Returns the fields that this verbosity shows.
    pub const fn fields(self) -> Fields {
        match self {
            Self::IdsOnly => Fields::NONE.with(Field::Title),
            Self::Compact => {
                let facts = Self::IdsOnly.fields().with(Field::Name).with(Field::Index).with(Field::Dates);
                facts.with(Field::Snippet).with(Field::Score)
            }
            Self::Standard => Self::Full.fields().without(Field::Provenance),
            // The dates are part of the metadata.
            Self::Full => Fields::ALL.without(Field::Dates),
        }
    }
}

/// An optional part of a hit. The order is the one in which a budget removes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Field {
    /// The capture that the content came from.
    Provenance,
    /// The quoted passages. A budget removes them one at a time before any field; this is the rest, a list that is empty
    /// from the start.
    Passages,
    Labels,
    SourceUrl,
    SourceUri,
    Mime,
    Description,
    /// All facts about the document and its capture.
    Metadata,
    /// The metadata that says how current a document is: when it was published, last crawled and last seen.
    Dates,
    /// Name of a file.
    Name,
    Index,
    Score,
    /// Shortened before any field is removed. The rest is removed only from the last remaining hit, as the last resort:
    /// without it a hit says hardly more than its link.
    Snippet,
    /// Never removed.
    Title,
}

impl Field {
    /// All fields, each at its position as a number.
    pub const ALL: [Field; 14] = [
        Field::Provenance,
        Field::Passages,
        Field::Labels,
        Field::SourceUrl,
        Field::SourceUri,
        Field::Mime,
        Field::Description,
        Field::Metadata,
        Field::Dates,
        Field::Name,
        Field::Index,
        Field::Score,
        Field::Snippet,
        Field::Title,
    ];
}

/// A set of fields.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fields(u16);

impl Fields {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self((1 << Field::ALL.len()) - 1);

    pub const fn contains(self, field: Field) -> bool {
        self.0 & (1 << field as u16) != 0
    }

    #[must_use]
    pub const fn with(self, field: Field) -> Self {
        Self(self.0 | (1 << field as u16))
    }

    #[must_use]
    pub const fn without(self, field: Field) -> Self {
        Self(self.0 & !(1 << field as u16))
    }

    /// Returns the fields of the set in the order of [`Field`].
    pub fn iter(self) -> impl Iterator<Item = Field> {
        Field::ALL.into_iter().filter(move |field| self.contains(*field))
    }
}

impl fmt::Debug for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}
