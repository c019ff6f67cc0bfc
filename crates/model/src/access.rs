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
    /// An administrative change to an organization, a key, a balance or a webhook.
    AuditAction: "audit action" {
        OrganizationCreated = "organization.created",
        KeyCreated = "key.created",
        KeyRevoked = "key.revoked",
        BalanceAdded = "balance.added",
        OrganizationDeleted = "organization.deleted",
        WebhookCreated = "webhook.created",
        WebhookSecretRotated = "webhook.secret_rotated",
        WebhookDeleted = "webhook.deleted",
    }
}
