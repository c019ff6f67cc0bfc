//! Organization for which the current task makes a request. The HTTP client passes only the name on to the resolver.

use model::OrganizationId;

tokio::task_local! {
    static ORGANIZATION: OrganizationId;
}

/// Does work for an organization.
pub(crate) fn of<F: Future>(organization: OrganizationId, work: F) -> impl Future<Output = F::Output> {
    ORGANIZATION.scope(organization, work)
}

/// Returns the organization for which the current task works; [`OrganizationId::NOBODY`] outside of [`of`].
pub(crate) fn organization() -> OrganizationId {
    ORGANIZATION.try_with(|organization| *organization).unwrap_or(OrganizationId::NOBODY)
}
