//! Services outside that runs depend on, and the checks of a run that has ended.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use test_support::chat::{ChatEndpoint, completion};
use test_support::crawl_site::CrawlSite;
use test_support::endpoint::{Endpoint, Reply};

use super::gate::Gate;
use crate::support::{Client, Page, Server, until, uuid_of};

/// Longest time of a run that is not held.
pub const RUN_DEADLINE: Duration = Duration::from_secs(60);
const PREPAID: i64 = 100_000;
/// Runs of one test; each has a site of its own, since a host is read by few at a time.
const RUNS: usize = 24;

/// A provider of web results, the pages that it finds, and a model, all behind one gate.
pub struct Outside {
    pub gate: Arc<Gate>,
    provider: Endpoint,
    chat: Option<ChatEndpoint>,
    _sites: Arc<Vec<CrawlSite>>,
}

/// Returns the word that only the question of this run has.
pub fn word(run: usize) -> String {
    const SYLLABLES: [&str; 5] = ["ba", "ke", "di", "fo", "gu"];
    format!("z{}{}{}x", SYLLABLES[run / 25 % 5], SYLLABLES[run / 5 % 5], SYLLABLES[run % 5])
}

pub fn question(word: &str) -> String {
    format!("Which grease does the {word} pump take, and how often is the seal of the {word} pump replaced?")
}

impl Outside {
    pub fn start(with_model: bool) -> Self {
        let gate = Arc::new(Gate::default());
        let sites: Arc<Vec<CrawlSite>> = Arc::new((0..RUNS).map(|run| site(run, &gate)).collect());
        let (found, passing) = (Arc::clone(&sites), Arc::clone(&gate));
        let provider = Endpoint::start(move |_, request| {
            passing.pass(&request.head);
            let named = (0..RUNS).filter(|run| request.head.contains(&word(*run)));
            let results: Vec<Value> = named.flat_map(|run| results(run, &found[run])).collect();
            Reply::json(200, &json!({ "results": results }))
        });
        let passing = Arc::clone(&gate);
        let chat = with_model.then(|| {
            ChatEndpoint::start(move |_, request| {
                passing.pass(&request.body.to_string());
                completion(match request.format() {
                    None => "The pump takes lithium grease [1]. Its seal is replaced every 4,000 hours [2].",
                    Some(_) => "{}",
                })
            })
        });
        Self { gate, provider, chat, _sites: sites }
    }

    /// Returns the settings of a server that depends on these services.
    pub fn settings(&self) -> String {
        let chat = self.chat.as_ref().map(|chat| {
            format!(
                "[generate]\nbackend = \"http\"\nurl = {:?}\nmodel = \"scripted\"\ntimeout_ms = 30000\n",
                chat.url()
            )
        });
        format!(
            "[web]\nproviders = [\"index\", \"http\"]\ntimeout_ms = 30000\n[web.http]\nurl = {:?}\n\
             [fetch]\nallow_networks = [\"127.0.0.0/8\"]\ntimeout_ms = 30000\n\
             [research]\nruns_per_organization = 100\n{}",
            self.provider.url("/search"),
            chat.unwrap_or_default()
        )
    }
}

/// Site with the pages about one pump.
fn site(run: usize, gate: &Arc<Gate>) -> CrawlSite {
    let gate = Arc::clone(gate);
    CrawlSite::start(&format!("127.0.2.{}", run + 1), move |path| {
        let word = word(run);
        let text = match path.rsplit('/').next() {
            Some("grease") => format!(
                "<h1>Grease</h1><p>The {word} pump takes lithium grease of class NLGI 2 at both bearings.</p>\
                 <p>Calcium grease is used in wet rooms, against the advice of its maker.</p>"
            ),
            Some("seals") => format!(
                "<h1>Seals</h1><p>The seal of the {word} pump is replaced every 4,000 hours of operation.</p>\
                 <p>Workshops order seals once a year, before the summer.</p>"
            ),
            _ => return Page::status(404),
        };
        gate.pass(&word);
        Page::html(&text)
    })
}

fn results(run: usize, site: &CrawlSite) -> Vec<Value> {
    let word = word(run);
    let result = |name: &str, about: &str| {
        json!({
            "url": site.url(&format!("/{word}/{name}")), "title": format!("{name} of the {word} pump"),
            "snippet": format!("The {word} pump: {about} and further advice for workshops."),
        })
    };
    vec![result("grease", "which grease it takes"), result("seals", "how often its seal is replaced")]
}

/// An organization and its runs.
pub struct Tenant {
    pub client: Client,
    is_billed: bool,
}

impl Tenant {
    /// Creates a billed organization.
    pub fn create(server: &Server) -> Self {
        let created = server.admin(&["org", "create", "--name", "billed", "--prepaid-cents", &PREPAID.to_string()]);
        let organization = uuid_of(&created["organization_id"]);
        let key = server.create_key(organization, &["--limit-rps", "100000"]);
        Self { client: server.client(key["key"].as_str(), organization), is_billed: true }
    }

    /// Creates an organization that pays nothing: its searches do not begin with a write.
    pub fn create_unbilled(server: &Server) -> Self {
        Self { client: server.tenant("unbilled"), is_billed: false }
    }

    /// Returns the same organization at another instance.
    pub fn at(&self, server: &Server) -> Self {
        let client = server.client(self.client.key.as_deref(), self.client.organization);
        Self { client, is_billed: self.is_billed }
    }

    pub fn start_run(&self, body: &Value) -> String {
        let created = self.client.post("/v1/research", body);
        assert_eq!(created.status, 202, "{created:#?}");
        created.json()["research_id"].as_str().unwrap().to_owned()
    }

    pub fn run(&self, id: &str) -> Value {
        self.client.get(&format!("/v1/research/{id}")).ok()
    }

    pub fn has_ended(&self, id: &str) -> bool {
        !matches!(self.run(id)["status"].as_str(), Some("queued" | "running"))
    }

    #[track_caller]
    pub fn ended(&self, id: &str) -> Value {
        until("the run ends", RUN_DEADLINE, || self.has_ended(id).then(|| self.run(id)))
    }

    pub fn events(&self, id: &str) -> Vec<Value> {
        let page = self.client.get(&format!("/v1/research/{id}/events?limit=1000")).ok();
        page["events"].as_array().unwrap().clone()
    }

    /// Streams events from the one after `after` until the stream ends or is cut. Returns their sequences as they come.
    pub fn stream(&self, id: &str, after: i64) -> impl Iterator<Item = i64> + use<> {
        let after = after.to_string();
        let headers = [("Accept", "text/event-stream"), ("Last-Event-ID", after.as_str())];
        let lines = self.client.lines(&format!("/v1/research/{id}/events"), &headers);
        let mut id = None;
        // An event counts once it is complete.
        lines.filter_map(move |line| match line.strip_prefix("id: ") {
            Some(number) => {
                id = number.parse().ok();
                None
            }
            None if line.is_empty() => id.take(),
            None => None,
        })
    }

    /// Asserts that an ended run has no gap, no repetition, no lost citation and the right price. Returns the run.
    #[track_caller]
    pub fn check(&self, server: &Server, id: &str) -> Value {
        let run = self.ended(id);
        let events = self.events(id);
        let sequences: Vec<i64> = events.iter().map(|event| event["sequence"].as_i64().unwrap()).collect();
        assert_eq!(sequences, (1..=events.len() as i64).collect::<Vec<_>>(), "{events:#?}");
        let of_kind = |kind: &str| events.iter().filter(|event| event["type"] == kind).collect::<Vec<_>>();
        assert_eq!((of_kind("research.created").len(), of_kind("research.started").len()), (1, 1));
        let ends = ["research.completed", "research.failed", "research.cancelled"];
        assert_eq!(ends.iter().map(|kind| of_kind(kind).len()).sum::<usize>(), 1);
        assert_eq!(events.last().unwrap()["research"]["status"], run["status"]);
        let searches = of_kind("research.search");
        let ids: BTreeSet<&str> = searches.iter().filter_map(|event| event["search_id"].as_str()).collect();
        assert_eq!((searches.len() as i64, ids.len()), (run["usage"]["searches"].as_i64().unwrap(), searches.len()));
        let text: String = of_kind("research.output_delta").iter().filter_map(|event| event["text"].as_str()).collect();
        assert_eq!(text, run["output"]["text"].as_str().unwrap_or_default(), "the deltas are the report");
        if self.is_billed {
            // The last refund follows the end.
            let paid = -run["usage"]["searches"].as_i64().unwrap();
            until("each search is paid once", Duration::from_secs(10), || {
                (self.cents(server, id) == paid).then_some(())
            });
        }
        self.verify(&run);
        run
    }

    /// Asserts that every citation is exact in the capture that it names.
    #[track_caller]
    pub fn verify(&self, run: &Value) {
        let cited = run["output"]["citations"].as_array().cloned().unwrap_or_default();
        for chunk in cited.chunks(50) {
            let fields = ["doc_id", "capture_id", "quote", "char_start", "char_end"];
            let citations: Vec<Value> = chunk
                .iter()
                .map(|citation| fields.iter().map(|field| ((*field).to_owned(), citation[field].clone())).collect())
                .collect();
            let verified = self.client.post("/v1/citations/verify", &json!({ "citations": citations })).ok();
            let verified = verified["results"].as_array().unwrap();
            assert_eq!(verified.len(), chunk.len());
            assert!(verified.iter().all(|result| result["status"] == "exact"), "{verified:#?}\n{chunk:#?}");
        }
    }

    /// Returns the sum of the ledger for a run.
    fn cents(&self, server: &Server, id: &str) -> i64 {
        let organization = self.client.organization.to_string();
        let ledger = server.command(&["admin", "balance", "ledger", "--org", &organization]).lines();
        let of_run = ledger.iter().filter(|entry| entry["research_id"] == id);
        of_run.map(|entry| entry["cents"].as_i64().unwrap()).sum()
    }
}
