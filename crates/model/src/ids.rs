use std::fmt;

use uuid::Uuid;

/// Defines a newtype of `Uuid`.
macro_rules! id {
    ($($(#[$meta:meta])* $name:ident;)*) => {
        $(
            $(#[$meta])*
            #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
            pub struct $name(pub Uuid);

            impl fmt::Display for $name {
                fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                    self.0.fmt(f)
                }
            }

            impl From<Uuid> for $name {
                fn from(id: Uuid) -> Self {
                    Self(id)
                }
            }

            impl From<$name> for Uuid {
                fn from(id: $name) -> Self {
                    id.0
                }
            }

            impl std::str::FromStr for $name {
                type Err = uuid::Error;

                fn from_str(text: &str) -> Result<Self, Self::Err> {
                    text.parse().map(Self)
                }
            }
        )*
    };
}

id! {
    /// An organization: the tenant that owns keys, files, grants and a balance.
    OrganizationId;
    /// An API key.
    ApiKeyId;
    /// A document: UUID v5 of its canonical URL.
    DocId;
    /// A capture: one snapshot of a document's content.
    CaptureId;
    /// A passage: UUID v5 of its document, content digest and ordinal.
    PassageId;
    /// A search and the ranked list that it returned.
    SearchId;
    /// A caller's session. It groups requests and is not an entity.
    SessionId;
    /// A feedback event.
    FeedbackId;
    /// An indexing run.
    SyncId;
    /// An entry of an organization's ledger.
    BalanceEntryId;
    /// An entry of the audit log.
    AuditEntryId;
    /// A research run.
    ResearchId;
    /// An address that receives events of an organization.
    WebhookId;
    /// One event for one address, the same in all attempts.
    DeliveryId;
    /// A crawl of web pages.
    CrawlId;
    /// A state of a search index: random, and renewed with every batch of changes.
    Generation;
}

impl OrganizationId {
    /// Stands for all work that no organization asked for, such as crawls and requests without a key. It has the share of one organization.
    pub const NOBODY: Self = Self(Uuid::nil());
}
