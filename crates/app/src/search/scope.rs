//! The collections of a search, and whether this deployment can search them.

use model::{Collection, IndexName};

use super::SearchRequest;
use crate::error::Result;
use crate::{App, Error, Viewer};

impl App {
    /// Returns true if the deployment has a search index. Without one there are only the search providers of the web.
    pub fn has_index(&self) -> bool {
        self.engine.is_some()
    }

    /// Checks what does not depend on the query: that the viewer may search these indexes, and that the deployment can.
    ///
    /// # Errors
    /// `Invalid`, `NoRetrieval`.
    pub fn check_search(&self, viewer: &Viewer, request: &SearchRequest) -> Result<()> {
        self.searched_collections(viewer, request).map(drop)
    }

    /// Returns the collections to search, the web first.
    ///
    /// # Errors
    /// `Invalid`, `NoRetrieval`.
    pub(super) fn searched_collections(&self, viewer: &Viewer, request: &SearchRequest) -> Result<Vec<Collection>> {
        let collections = collections(viewer, request)?;
        let is_web = collections.iter().all(|collection| *collection == Collection::Web);
        match self.has_index() || (is_web && !self.web.is_empty()) {
            true => Ok(collections),
            false => Err(Error::NoRetrieval),
        }
    }
}

/// Returns the collections that a request names.
fn collections(viewer: &Viewer, request: &SearchRequest) -> Result<Vec<Collection>> {
    let own = viewer.organization_id;
    let workspace = request.indexes.contains(&IndexName::Workspace);
    if request.workspace_id.map_or(workspace, |id| id != own) {
        // The same error whether or not such an organization exists.
        let message = "workspace_id must be the id of the API key's organization";
        return Err(Error::invalid("scope.workspace_id", message));
    }
    let mut collections = Vec::with_capacity(2);
    if request.indexes.contains(&IndexName::Web) {
        collections.push(Collection::Web);
    }
    if workspace {
        collections.push(Collection::Workspace(own));
    }
    Ok(collections)
}
