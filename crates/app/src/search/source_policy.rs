//! Sites that a caller includes, excludes or requires.

use retrieval_core::site::Site;

use super::vectors::RankedDocument;

/// Site rules of a search. They apply to web results only.
#[derive(Clone, Debug, Default)]
pub struct SourcePolicy {
    pub include_domains: Vec<Site>,
    pub exclude_domains: Vec<Site>,
    /// Removes results outside `include_domains`; otherwise those domains are preferred.
    pub require_domain_match: bool,
}

impl SourcePolicy {
    /// Returns true if the policy removes results.
    pub(super) fn drops(&self) -> bool {
        !self.exclude_domains.is_empty() || self.require_domain_match
    }

    /// Returns true if the policy removes every result: no document is inside an empty list of domains.
    pub(super) fn admits_nothing(&self) -> bool {
        self.require_domain_match && self.include_domains.is_empty()
    }

    /// Returns true if the policy prefers some results and keeps the others.
    pub(super) fn has_preference(&self) -> bool {
        !self.require_domain_match && !self.include_domains.is_empty()
    }

    /// Returns true if the policy prefers this document.
    pub(super) fn prefers(&self, document: &RankedDocument) -> bool {
        self.has_preference() && is_on(&self.include_domains, document)
    }

    /// Returns true unless the policy removes this document.
    pub(super) fn admits(&self, document: &RankedDocument) -> bool {
        !is_on(&self.exclude_domains, document)
            && (!self.require_domain_match || is_on(&self.include_domains, document))
    }
}

fn is_on(sites: &[Site], document: &RankedDocument) -> bool {
    sites.iter().any(|site| site.contains(&document.host, &document.path))
}
