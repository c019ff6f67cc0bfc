use diesel::prelude::*;
use model::{CaptureId, DocId, OrganizationId, Timestamp};

use crate::schema::{capture_vectors, embedding_jobs, index_models, model_calibrations};
use crate::types::row;

row! {
    #[derive(Clone, Debug, Insertable)]
    #[diesel(table_name = capture_vectors)]
    pub struct StoredVectors {
        pub capture_id: CaptureId,
        pub model: String,
        pub passages: Vec<u8>,
        pub complete: bool,
        pub content_key: i64,
        pub created_at: Timestamp,
    }
}

row! {
    /// Document whose latest capture waits to be embedded.
    #[derive(Clone, Debug, Insertable, Queryable, Selectable)]
    #[diesel(table_name = embedding_jobs, treat_none_as_default_value = false)]
    pub struct EmbeddingJob {
        pub doc_id: DocId,
        /// Organization whose turn the job is; `None` for the web.
        pub organization_id: Option<OrganizationId>,
        pub enqueued_at: Timestamp,
        /// Attempts at which the model rejected a text.
        pub attempts: i32,
        /// End of the pause after an attempt, or of the lease.
        pub not_before: Timestamp,
        pub lease_owner: Option<String>,
    }
}

/// Model whose vectors an index has.
#[derive(Clone, Debug, Default, Eq, PartialEq, Queryable, Selectable)]
#[diesel(table_name = index_models)]
pub struct IndexModel {
    /// `None`: documents are indexed without vectors.
    pub model: Option<String>,
    /// True once all documents are enqueued that have no vectors of this model in the index.
    pub queued: bool,
}

/// Quality of an embedding model.
#[derive(Clone, Debug, Insertable, PartialEq, Queryable, Selectable)]
#[diesel(table_name = model_calibrations)]
pub struct ModelCalibration {
    pub model: String,
    /// Version of the texts that it was measured with.
    pub version: i32,
    /// Sensitivity to paraphrases, as d', in the best language.
    pub meaning: f64,
    /// Sensitivity to common words, as d'.
    pub repetition: f64,
    /// Sensitivity to paraphrases in each language, such as `en=7.7 de=0.6`; empty in version 1.
    pub by_language: String,
}
