use uuid::Uuid;

/// What a credential may be used for; each endpoint needs one.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Permission {
    SearchRead,
    DocumentRead,
    FeedbackWrite,
    FilesRead,
    FilesWrite,
    UsageRead,
    ResearchRead,
    ResearchWrite,
}

impl Permission {
    pub const ALL: [Permission; 8] = [
        Permission::SearchRead,
        Permission::DocumentRead,
        Permission::FeedbackWrite,
        Permission::FilesRead,
        Permission::FilesWrite,
        Permission::UsageRead,
        Permission::ResearchRead,
        Permission::ResearchWrite,
    ];

    /// The scope string that API keys and tokens carry.
    pub fn as_scope(self) -> &'static str {
        match self {
            Permission::SearchRead => "search:read",
            Permission::DocumentRead => "document:read",
            Permission::FeedbackWrite => "feedback:write",
            Permission::FilesRead => "files:read",
            Permission::FilesWrite => "files:write",
            Permission::UsageRead => "usage:read",
            Permission::ResearchRead => "research:read",
            Permission::ResearchWrite => "research:write",
        }
    }

    pub fn from_scope(scope: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|permission| permission.as_scope() == scope)
    }
}

/// Who is counted for rate limits and usage.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub enum Identity {
    ApiKey(Uuid),
}

impl Identity {
    /// A stable key for rate-limit counters.
    pub fn rate_key(&self) -> String {
        match self {
            Identity::ApiKey(id) => format!("key:{id}"),
        }
    }
}

/// Who is asking. Every use case takes one, so that a read without an organization does not compile.
#[derive(Clone, Debug)]
pub struct Viewer {
    pub organization_id: Uuid,
    pub identity: Identity,
    pub permissions: Vec<Permission>,
    pub limit_rps: u32,
    /// Searches of a billed organization draw on its balance.
    pub billed: bool,
}

impl Viewer {
    pub fn may(&self, permission: Permission) -> bool {
        self.permissions.contains(&permission)
    }
}
