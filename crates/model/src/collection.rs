use crate::OrganizationId;
use crate::names::named_enum;

/// The documents that a search, a document or an index entry belongs to.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Collection {
    /// The shared web corpus.
    Web,
    /// The private files of one organization.
    Workspace(OrganizationId),
}

impl Collection {
    /// The collection of a document with this owner; `None` is the shared web.
    pub const fn of_owner(owner: Option<OrganizationId>) -> Self {
        match owner {
            None => Self::Web,
            Some(organization_id) => Self::Workspace(organization_id),
        }
    }

    /// The owning organization; `None` for the shared web.
    pub const fn owner(self) -> Option<OrganizationId> {
        match self {
            Self::Web => None,
            Self::Workspace(organization_id) => Some(organization_id),
        }
    }

    /// The index that holds the collection.
    pub const fn index(self) -> IndexName {
        match self {
            Self::Web => IndexName::Web,
            Self::Workspace(_) => IndexName::Workspace,
        }
    }
}

impl From<Option<OrganizationId>> for Collection {
    fn from(owner: Option<OrganizationId>) -> Self {
        Self::of_owner(owner)
    }
}

impl From<Collection> for Option<OrganizationId> {
    fn from(collection: Collection) -> Self {
        collection.owner()
    }
}

named_enum! {
    /// A search index. The workspace index holds the collections of all organizations.
    IndexName: "index" {
        Web = "web",
        Workspace = "workspace",
    }
}

named_enum! {
    /// The format of a capture's content.
    CaptureFormat: "capture format" {
        /// A plain text snippet.
        Text = "text",
        /// The whole document.
        Markdown = "markdown",
    }
}

impl CaptureFormat {
    /// Returns true for the format of captures that hold only the text of a search result, not the whole document.
    pub const fn is_snippet(self) -> bool {
        matches!(self, CaptureFormat::Text)
    }
}
