use crate::names::named_enum;

named_enum! {
    /// The outcome of one file in an indexing run.
    FileOutcome: "file outcome" {
        Indexed = "indexed",
        Failed = "failed",
        SkippedUnsupported = "skipped_unsupported",
    }
}

named_enum! {
    /// The state of a stored file.
    FileStatus: "file status" {
        /// Not indexed since its last upload.
        Pending = "pending",
        Indexed = "indexed",
        Failed = "failed",
        Unsupported = "unsupported",
    }
}

impl From<FileOutcome> for FileStatus {
    fn from(outcome: FileOutcome) -> Self {
        match outcome {
            FileOutcome::Indexed => FileStatus::Indexed,
            FileOutcome::Failed => FileStatus::Failed,
            FileOutcome::SkippedUnsupported => FileStatus::Unsupported,
        }
    }
}
