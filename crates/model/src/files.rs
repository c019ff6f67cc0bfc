use crate::names::named_enum;

named_enum! {
    /// The outcome of one file in an indexing run.
    FileOutcome: "file outcome" {
        Indexed = "indexed",
        Failed = "failed",
        SkippedUnsupported = "skipped_unsupported",
    }
}
