use crate::names::named_enum;

named_enum! {
    /// A permission of an API key or access token. Each operation requires one.
    Scope: "scope" {
        SearchRead = "search:read",
        DocumentRead = "document:read",
        FeedbackWrite = "feedback:write",
        FilesRead = "files:read",
        FilesWrite = "files:write",
        UsageRead = "usage:read",
        ResearchRead = "research:read",
        ResearchWrite = "research:write",
        KeysWrite = "keys:write",
        WebhooksWrite = "webhooks:write",
        WebManage = "web:manage",
    }
}

impl Scope {
    /// Returns true for a scope over what all organizations share. Only the operator's command grants it, by name.
    pub const fn is_operators(self) -> bool {
        match self {
            Self::WebManage => true,
            Self::SearchRead
            | Self::DocumentRead
            | Self::FeedbackWrite
            | Self::FilesRead
            | Self::FilesWrite
            | Self::UsageRead
            | Self::ResearchRead
            | Self::ResearchWrite
            | Self::KeysWrite
            | Self::WebhooksWrite => false,
        }
    }

    /// Returns the scopes that an organization may have and pass on.
    pub fn of_organizations() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|scope| !scope.is_operators())
    }
}

named_enum! {
    /// The state of an API key.
    KeyState: "key state" {
        Active = "active",
        Expired = "expired",
        Revoked = "revoked",
    }
}

named_enum! {
    /// An administrative change to an organization, a key, a balance, a webhook or the shared web index.
    AuditAction: "audit action" {
        OrganizationCreated = "organization.created",
        KeyCreated = "key.created",
        KeyRevoked = "key.revoked",
        BalanceAdded = "balance.added",
        OrganizationDeleted = "organization.deleted",
        WebhookCreated = "webhook.created",
        WebhookSecretRotated = "webhook.secret_rotated",
        WebhookDeleted = "webhook.deleted",
        CrawlStarted = "crawl.started",
        CrawlStopped = "crawl.stopped",
        CrawlRemoved = "crawl.removed",
        WebPagesImported = "web_pages.imported",
        WebPagesRemoved = "web_pages.removed",
    }
}
