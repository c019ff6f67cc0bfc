//! Ways to fill the shared web index, for those who find it empty.

/// Way to fill the shared web index.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Way {
    pub purpose: &'static str,
    /// Arguments of the server's program.
    pub arguments: &'static str,
    /// Variables that precede the program.
    pub variables: &'static str,
}

impl Way {
    /// Returns the command to paste, with the name of the program as a shell reads it.
    pub fn command(&self, program: &str) -> String {
        let parts = [self.variables, program, self.arguments];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }
}

/// Name of the program where no other is known.
pub const PROGRAM: &str = "retrieval-server";

/// A crawl, a search provider, an import.
pub const WAYS: [Way; 3] = [
    Way { purpose: "crawl a site", arguments: "web crawl https://docs.example.com --wait", variables: "" },
    Way {
        purpose: "connect a search provider, here SearXNG: restart the server with",
        arguments: "",
        variables: "RETRIEVAL__WEB__PROVIDERS=index,searxng RETRIEVAL__WEB__SEARXNG__URL=http://127.0.0.1:8888",
    },
    Way { purpose: "import pages: JSON lines, WARC, or a folder", arguments: "web import pages.jsonl", variables: "" },
];
