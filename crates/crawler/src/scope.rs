//! Scope of a crawl: the URLs that it visits and lists.

use std::collections::BTreeSet;

use crate::address::Address;
use crate::pattern::Pattern;
use crate::plan::Plan;

/// Scope that follows from a plan.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Hosts of the seeds, without `www.`.
    hosts: BTreeSet<String>,
    include: Vec<Pattern>,
    exclude: Vec<Pattern>,
}

/// Reason that a URL is outside.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Outside {
    OtherHost,
    Excluded,
    NotIncluded,
}

impl Outside {
    pub fn as_str(self) -> &'static str {
        match self {
            Outside::OtherHost => "other_host",
            Outside::Excluded => "excluded",
            Outside::NotIncluded => "not_included",
        }
    }
}

impl Scope {
    pub fn of(plan: &Plan) -> Self {
        let hosts = plan.seeds.iter().filter_map(|seed| Address::parse(seed).ok());
        let patterns = |texts: &[String]| texts.iter().filter_map(|text| Pattern::parse(text).ok()).collect();
        Self {
            hosts: hosts.map(|address| without_www(&address.host).to_owned()).collect(),
            include: patterns(&plan.include),
            exclude: patterns(&plan.exclude),
        }
    }

    /// Returns the reason that the URL is on another host or excluded.
    pub fn refuses_visit(&self, address: &Address) -> Option<Outside> {
        if !self.hosts.contains(without_www(&address.host)) {
            return Some(Outside::OtherHost);
        }
        let path = address.path_and_query();
        self.exclude.iter().any(|pattern| pattern.matches(&address.url, path)).then_some(Outside::Excluded)
    }

    /// Returns the reason that the page is not listed.
    pub fn refuses_page(&self, address: &Address) -> Option<Outside> {
        let path = address.path_and_query();
        let is_included =
            self.include.is_empty() || self.include.iter().any(|pattern| pattern.matches(&address.url, path));
        self.refuses_visit(address).or((!is_included).then_some(Outside::NotIncluded))
    }
}

/// Sites redirect between the two names.
fn without_www(host: &str) -> &str {
    host.strip_prefix("www.").unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scope_is_the_hosts_of_the_seeds_and_the_patterns() {
        let scope = Scope::of(&Plan {
            seeds: vec!["https://example.com/docs/".to_owned(), "http://127.0.0.2:8080/".to_owned()],
            include: vec!["/docs/*".to_owned()],
            exclude: vec!["*/old/*".to_owned()],
            ..Plan::default()
        });
        for (url, expected) in [
            ("https://example.com/docs/a", None),
            ("http://www.example.com/docs/a", None),
            ("http://127.0.0.2:8080/docs/a", None),
            ("http://127.0.0.2:8081/docs/a", Some(Outside::OtherHost)),
            ("https://sub.example.com/docs/a", Some(Outside::OtherHost)),
            ("https://example.com/docs/old/a", Some(Outside::Excluded)),
            ("https://example.com/blog", Some(Outside::NotIncluded)),
        ] {
            assert_eq!(scope.refuses_page(&Address::parse(url).expect("a URL")), expected, "{url}");
        }
    }
}
