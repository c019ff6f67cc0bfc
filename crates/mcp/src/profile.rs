use crate::tools::{CONNECTOR, FULL, Tool};

/// Which tools are offered.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Profile {
    /// Everything that an agent needs.
    #[default]
    Full,
    /// `search` and `fetch` alone, as connectors of ChatGPT expect them.
    Connector,
}

impl Profile {
    /// The profile of this name: `full` or `connector`.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "full" => Some(Profile::Full),
            "connector" => Some(Profile::Connector),
            _ => None,
        }
    }

    pub(crate) fn tools(self) -> &'static [Tool] {
        match self {
            Profile::Full => &FULL,
            Profile::Connector => &CONNECTOR,
        }
    }

    pub(crate) fn instructions(self) -> &'static str {
        match self {
            Profile::Full => {
                "Search first, read what matters, cite only URLs and passages that were returned. `search` ranks \
                 documents of a shared web index (and of the organization's own files with scope.indexes \
                 [\"workspace\"]) and returns quotable passages; `read_document` reads one by doc_id, or any public \
                 page by canonical_url, in parts that fit; `submit_feedback` says what a result was worth. Answers \
                 stand in structuredContent, the text beside them is a summary."
            }
            Profile::Connector => "`search` finds documents; `fetch` returns the text of one by its id.",
        }
    }
}
