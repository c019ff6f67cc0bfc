use api_types::{DocumentRequest, SearchResult};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;

use super::document::ScrapeOptions;
use super::scrape::UNSUPPORTED_OPTIONS;
use super::{Firecrawl, tbs};
use crate::document::{cut, summary, title};
use crate::{ForeignRequest, ForeignSearch, Hit, Moment, Refusal, Refused, SearchPlan, Unsupported};

/// The body of `POST /v2/search`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchRequest {
    #[serde(default)]
    query: String,
    limit: Option<usize>,
    sources: Option<Vec<Source>>,
    include_domains: Option<Vec<String>>,
    exclude_domains: Option<Vec<String>>,
    tbs: Option<String>,
    scrape_options: Option<ScrapeOptions>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a name or an object with `type`")]
enum Source {
    Name(String),
    Options {
        #[serde(rename = "type")]
        name: String,
        tbs: Option<String>,
    },
}

impl Source {
    fn name(&self) -> &str {
        match self {
            Source::Name(name) | Source::Options { name, .. } => name,
        }
    }

    fn tbs(&self) -> Option<&str> {
        match self {
            Source::Name(_) => None,
            Source::Options { tbs, .. } => tbs.as_deref(),
        }
    }
}

impl SearchRequest {
    /// Returns the options of the scrape of each result, if its content is asked for.
    fn scrape(&self) -> Option<&ScrapeOptions> {
        self.scrape_options.as_ref().filter(|options| options.has_formats())
    }

    fn check_sources(&self) -> Result<(), Refusal> {
        let mut others = self.sources.iter().flatten().map(Source::name).filter(|name| *name != "web");
        match others.next() {
            None => Ok(()),
            Some(name) => {
                let name = cut(name, 50);
                Err(Refusal::new("sources", format!("sources: `{name}` is not supported; the only source is `web`")))
            }
        }
    }

    /// Returns the window of the source, or else of the search.
    fn tbs(&self) -> Result<Option<&str>, Refusal> {
        let mut windows = self.sources.iter().flatten().filter_map(Source::tbs);
        let Some(first) = windows.next() else { return Ok(self.tbs.as_deref()) };
        match windows.all(|other| other == first) {
            true => Ok(Some(first)),
            false => Err(Refusal::new("sources", "sources: several values of `tbs` are not supported")),
        }
    }
}

/// A filter of a search or of one of its sources.
const FILTER: Unsupported = Unsupported { field: "filter", reason: "there is no such filter" };

/// Unsupported fields of a search.
const UNSUPPORTED: &[Unsupported] = &[
    FILTER,
    Unsupported { field: "categories", reason: "results have no categories" },
    Unsupported { field: "enterprise", reason: "searches are recorded" },
    Unsupported { field: "threatProtection", reason: "results are returned as they are" },
    Unsupported { field: "domainTools", reason: "there are no tools of domains" },
];

impl ForeignRequest for SearchRequest {
    type Service = Firecrawl;

    const UNSUPPORTED: &'static [Refused] = &[
        Refused { object: "", fields: UNSUPPORTED },
        Refused { object: "sources", fields: &[FILTER] },
        Refused { object: "scrapeOptions", fields: UNSUPPORTED_OPTIONS },
    ];
}

impl ForeignSearch for SearchRequest {
    fn plan(&self, now: OffsetDateTime) -> Result<SearchPlan, Refusal> {
        let mut plan = SearchPlan::new(&self.query, self.limit.unwrap_or(5));
        self.check_sources()?;
        if let Some(options) = self.scrape() {
            options.check("scrapeOptions.formats")?;
        }
        plan.require_domains(self.include_domains.as_deref().unwrap_or_default());
        plan.exclude_domains(self.exclude_domains.as_deref().unwrap_or_default());
        if let Some(tbs) = self.tbs()? {
            let window = tbs::parse(tbs, now)?;
            plan.request.freshness_policy.published_after = window.after.map(api_types::timestamp::rfc3339);
            if let Some(before) = window.before {
                plan.published_before(before);
            }
        }
        Ok(plan)
    }

    fn reads_documents(&self) -> bool {
        self.scrape().is_some()
    }

    fn reads(&self, hit: &SearchResult) -> Vec<DocumentRequest> {
        self.scrape().map(|options| options.read(&hit.doc_id.to_string())).into_iter().collect()
    }

    fn answer(&self, hits: Vec<Hit>, moment: Moment) -> Value {
        let results: Vec<Value> = hits.into_iter().enumerate().map(|(at, hit)| self.result(at, hit, moment)).collect();
        json!({"success": true, "data": {"web": results}, "id": moment.request_id})
    }
}

impl SearchRequest {
    fn result(&self, at: usize, hit: Hit, moment: Moment) -> Value {
        let Hit { result, documents } = hit;
        let url = result.canonical_url.as_str();
        let mut view = Map::from_iter([
            ("url".to_owned(), url.into()),
            ("title".to_owned(), title(&result).into()),
            ("description".to_owned(), summary(&result).into()),
            ("position".to_owned(), json!(at + 1)),
        ]);
        if let (Some(options), Some(outcome)) = (self.scrape(), documents.into_iter().next()) {
            match options.document(url, outcome, moment.request_id) {
                Ok(document) => view.extend(document),
                Err(failure) => {
                    let metadata = json!({"sourceURL": url, "error": failure.message});
                    view.insert("markdown".to_owned(), "".into());
                    view.insert("metadata".to_owned(), metadata);
                }
            }
        }
        view.into()
    }
}
