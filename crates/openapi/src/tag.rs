/// A group of operations in the reference.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Tag {
    Search,
    Documents,
    Research,
    Feedback,
    Files,
    Usage,
    Account,
    Web,
}

impl Tag {
    pub const ALL: [Tag; 8] =
        [Tag::Search, Tag::Documents, Tag::Research, Tag::Feedback, Tag::Files, Tag::Usage, Tag::Account, Tag::Web];

    /// The name in the document.
    pub const fn as_str(self) -> &'static str {
        match self {
            Tag::Search => "Search",
            Tag::Documents => "Documents",
            Tag::Research => "Research",
            Tag::Feedback => "Feedback",
            Tag::Files => "Files",
            Tag::Usage => "Usage",
            Tag::Account => "Account",
            Tag::Web => "Web",
        }
    }

    pub(crate) const fn description(self) -> &'static str {
        match self {
            Tag::Search => {
                "Ranked search over the shared web index, the organization's own files, or both. Results carry \
                 quotable passages; the caller chooses the size of the response."
            }
            Tag::Documents => "Metadata, content, citable passages and captures of one document.",
            Tag::Research => {
                "Asynchronous reports: a run plans, searches, reads and writes within a budget, and every citation is \
                 verified against stored text."
            }
            Tag::Feedback => "Feedback on a result, a passage or a search, from agents and evaluations.",
            Tag::Files => {
                "The organization's own documents: presign, upload to storage, start an indexing run, poll it, then \
                 search with the workspace scope."
            }
            Tag::Usage => "Requests, durations and charges of the organization's credentials.",
            Tag::Account => {
                "The caller's organization, credential and quotas, and the organization's API keys and webhooks."
            }
            Tag::Web => {
                "Crawls and pages of the shared web index, for the operator of the server. Only the operator's command \
                 creates keys with the scope `web:manage`."
            }
        }
    }
}
