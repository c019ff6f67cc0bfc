//! Domains that a caller includes, excludes or requires.

use retrieval_core::domain::Domain;

/// Domain rules of a search. They apply to web results only.
#[derive(Clone, Debug, Default)]
pub struct SourcePolicy {
    pub include_domains: Vec<Domain>,
    pub exclude_domains: Vec<Domain>,
    /// Removes results outside `include_domains`; otherwise those domains are preferred.
    pub require_domain_match: bool,
}

impl SourcePolicy {
    /// Returns true if the policy removes results.
    pub(super) fn drops(&self) -> bool {
        !self.exclude_domains.is_empty() || self.require_domain_match
    }

    /// Returns true if the policy prefers some results and keeps the others.
    pub(super) fn has_preference(&self) -> bool {
        !self.require_domain_match && !self.include_domains.is_empty()
    }

    /// Returns true if the policy prefers this host.
    pub(super) fn prefers(&self, host: &str) -> bool {
        self.has_preference() && self.include_domains.iter().any(|domain| domain.contains(host))
    }
}
