//! Small world of documents that executes the steps of a run.

use std::cell::RefCell;
use std::time::Duration;

use model::{CaptureId, DocId, IndexName, Timestamp};
use research::engine::{
    Assignment, Budget, DEFAULT_ANSWER_TOKENS, Depth, Ending, Event, FoundHit, FoundPassage, Outcome, OutputSpec,
    Prompt, Purpose, ReadText, Report, State, Step, verify,
};
use retrieval_core::passages::{PassageSpan, passage_id, split};
use retrieval_core::select::query_relevant;
use uuid::Uuid;

pub struct Page {
    pub url: &'static str,
    pub title: &'static str,
    /// Milliseconds since the Unix epoch.
    pub published: Option<i64>,
    /// ISO 639-1 code.
    pub language: &'static str,
    pub text: String,
}

pub fn page(url: &'static str, title: &'static str, text: &str) -> Page {
    Page { url, title, published: None, language: "en", text: text.to_owned() }
}

impl Page {
    pub fn published(mut self, at: i64) -> Self {
        self.published = Some(at);
        self
    }

    pub fn in_language(mut self, code: &'static str) -> Self {
        self.language = code;
        self
    }

    pub fn doc_id(&self) -> DocId {
        DocId(Uuid::new_v5(&Uuid::NAMESPACE_URL, self.url.as_bytes()))
    }

    pub fn capture_id(&self) -> CaptureId {
        CaptureId(Uuid::new_v5(&Uuid::NAMESPACE_OID, self.url.as_bytes()))
    }

    fn index(&self) -> IndexName {
        if self.url.starts_with("workspace:") { IndexName::Workspace } else { IndexName::Web }
    }

    fn passages(&self, query: &str, most: usize) -> Vec<FoundPassage> {
        let spans = split(&self.text);
        let best = query_relevant(query, &self.text, &spans, Some(self.language));
        let passage = |span: &PassageSpan| FoundPassage {
            passage_id: Some(passage_id(self.doc_id(), "digest", span.ordinal)),
            text: span.text(&self.text).to_owned(),
            char_start: Some(span.chars.start),
            section_path: span.section_path.clone(),
        };
        best.iter().take(most).map(|at| passage(&spans[*at])).collect()
    }
}

type Answer<'a> = Box<dyn Fn(&Prompt) -> Outcome + 'a>;

/// Documents, and the answers of a model.
#[derive(Default)]
pub struct World<'a> {
    pub pages: Vec<Page>,
    pub answer: Option<Answer<'a>>,
    /// Steps that were executed.
    pub steps: RefCell<Vec<Step>>,
}

impl World<'_> {
    pub fn of(pages: Vec<Page>) -> Self {
        Self { pages, ..Self::default() }
    }

    fn page(&self, doc_id: DocId) -> &Page {
        self.pages.iter().find(|page| page.doc_id() == doc_id).unwrap()
    }

    pub fn execute(&self, step: &Step) -> Outcome {
        match step {
            Step::Search { query, search_queries, .. } => Outcome::Found(self.search(query, search_queries)),
            Step::Read { doc_id, query, .. } => {
                let page = self.page(*doc_id);
                Outcome::Document(ReadText {
                    doc_id: *doc_id,
                    title: Some(page.title.to_owned()),
                    published_at: page.published.map(Timestamp::from_millis),
                    language: Some(page.language.to_owned()),
                    capture_id: page.capture_id(),
                    capture_time: Timestamp::UNIX_EPOCH,
                    passages: page.passages(query, 5),
                })
            }
            Step::Generate(prompt) => match &self.answer {
                Some(answer) => answer(prompt),
                None => Outcome::ModelFailed { reason: "no model".to_owned(), tokens: None },
            },
            Step::Check { citations, .. } => {
                let check = |citation| {
                    let page = self.pages.iter().find(|page| {
                        let citation: &research::engine::CitationCheck = citation;
                        page.capture_id() == citation.capture_id
                    });
                    verify::compare(citation, page.map(|page| page.text.as_str()))
                };
                Outcome::Checked(citations.iter().map(check).collect())
            }
            Step::Finish(_) => panic!("a finished run has no step"),
        }
    }

    /// Ranks the pages by the passages that match any of the wordings.
    fn search(&self, query: &str, wordings: &[String]) -> Vec<FoundHit> {
        let matches = |page: &&Page| wordings.iter().any(|wording| !page.passages(wording, 1).is_empty());
        let hit = |page: &Page| FoundHit {
            doc_id: page.doc_id(),
            canonical_url: page.url.to_owned(),
            title: Some(page.title.to_owned()),
            index: page.index(),
            published_at: page.published.map(Timestamp::from_millis),
            language: Some(page.language.to_owned()),
            capture_id: page.capture_id(),
            capture_time: Timestamp::UNIX_EPOCH,
            passages: page.passages(query, 3),
        };
        self.pages.iter().filter(matches).take(10).map(hit).collect()
    }

    pub fn run(&self, assignment: &Assignment) -> Run {
        self.run_from(State::new(assignment), assignment)
    }

    pub fn run_from(&self, mut state: State, assignment: &Assignment) -> Run {
        let mut events = Vec::new();
        for at in 0..1_000 {
            let step = state.next(assignment, Duration::from_millis(10 * at));
            self.steps.borrow_mut().push(step.clone());
            if let Step::Finish(ending) = step {
                return Run { report: state.report(), state, events, ending };
            }
            let outcome = self.execute(&step);
            events.extend(state.apply(assignment, &step, outcome));
        }
        panic!("the run does not end");
    }
}

pub struct Run {
    pub state: State,
    pub report: Option<Report>,
    pub events: Vec<Event>,
    pub ending: Ending,
}

impl Run {
    /// Names of the events, each once for several in a row.
    pub fn event_names(&self) -> Vec<&'static str> {
        let mut names: Vec<&'static str> = self.events.iter().map(Event::name).collect();
        names.dedup();
        names
    }

    pub fn text(&self) -> &str {
        &self.report.as_ref().unwrap().text
    }
}

pub fn assignment(query: &str) -> Assignment {
    Assignment {
        query: query.to_owned(),
        depth: Depth::Standard,
        instructions: None,
        output: OutputSpec::default(),
        budget: Budget::of(Depth::Standard),
        previous: None,
        has_model: false,
        max_answer_tokens: DEFAULT_ANSWER_TOKENS,
    }
}

pub fn with_model(query: &str) -> Assignment {
    Assignment { has_model: true, ..assignment(query) }
}

pub fn generated(text: impl Into<String>) -> Outcome {
    Outcome::Generated { text: text.into(), tokens: None, truncated: false }
}

/// Model that plans nothing, judges nothing, and writes this report.
pub fn writes<'a>(report: impl Fn(&Prompt) -> String + 'a) -> Option<Answer<'a>> {
    Some(Box::new(move |prompt: &Prompt| match prompt.purpose {
        Purpose::Plan | Purpose::Judge => generated("{}"),
        Purpose::Write => generated(report(prompt)),
    }))
}

/// Checks everything that holds for any report.
pub fn check_report(world_text: impl Fn(CaptureId) -> Option<String>, report: &Report) {
    let output: Vec<char> = report.text.chars().collect();
    for (at, citation) in report.citations.iter().enumerate() {
        assert_eq!(citation.n as usize, at + 1, "numbers are consecutive");
        assert!(citation.verified);
        let capture: Vec<char> = world_text(citation.capture_id).unwrap().chars().collect();
        let quoted: String = capture[citation.char_start..citation.char_end].iter().collect();
        assert_eq!(quoted, citation.quote);
        if let (Some(start), Some(end)) = (citation.output_start, citation.output_end) {
            assert_eq!(output[start..end].iter().collect::<String>(), format!("[{}]", citation.n));
        }
    }
    for basis in &report.basis {
        assert!(basis.citations.iter().all(|n| (1..=report.citations.len() as u32).contains(n)), "{basis:?}");
        let value = report.structured.as_ref().unwrap();
        assert!(value.pointer(&basis.field).is_some(), "{basis:?} is no place of {value}");
        assert_eq!(report.basis.iter().filter(|other| other.field == basis.field).count(), 1, "{basis:?}");
    }
}

impl World<'_> {
    pub fn check(&self, report: &Report) {
        let text = |capture: CaptureId| {
            self.pages.iter().find(|page| page.capture_id() == capture).map(|page| page.text.clone())
        };
        check_report(text, report);
    }
}

/// Oils that the bearing takes by each of the [`manuals`].
pub const OILS: [&str; 3] = ["mineral oil", "synthetic oil", "castor oil"];

/// Three manuals that differ in one sentence.
pub fn manuals() -> World<'static> {
    const URLS: [&str; 3] = ["https://a.example/x200", "https://b.example/x200", "https://c.example/x200"];
    let text = |oil: &str| {
        format!(
            "The X200 pump runs at 30 bar in normal use. Staff must be trained for its service. Close the valve when it \
             stops. The bearing of the X200 pump takes {oil} every year. Keep the manual at hand.\n"
        )
    };
    World::of(URLS.into_iter().zip(OILS).map(|(url, oil)| page(url, "Manual", &text(oil))).collect())
}
