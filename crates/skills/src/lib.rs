#![doc = include_str!("../README.md")]

mod front_matter;
mod installer;

use sha2::{Digest, Sha256};

/// Placeholder for the base URL in texts.
const BASE_URL: &str = "{{BASE_URL}}";

/// Skills in the order of the index.
const SKILLS: [&str; 4] = [
    include_str!("../content/retrieval-search/SKILL.md"),
    include_str!("../content/retrieval-read/SKILL.md"),
    include_str!("../content/retrieval-workspace/SKILL.md"),
    include_str!("../content/retrieval-research/SKILL.md"),
];

const AGENTS: [&str; 1] = [include_str!("../content/agents/retrieval-researcher.md")];

/// A skill or a subagent as served.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Text {
    /// Lowercase letters and `-`: the folder of a skill, the file stem of a subagent.
    pub name: String,
    /// Purpose and when to use it.
    pub description: String,
    /// Markdown with its front matter.
    pub text: String,
    /// SHA-256 of the text, in hex.
    pub sha256: String,
}

/// All texts for one base URL.
#[derive(Clone, Debug)]
pub struct Published {
    pub skills: Vec<Text>,
    pub agents: Vec<Text>,
    /// A POSIX shell script.
    pub installer: String,
}

impl Published {
    /// Renders the texts for a base URL without a trailing slash. Returns `None` for a URL with characters that would break
    /// the installer, such as quotes and spaces.
    pub fn new(base_url: &str) -> Option<Self> {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._~:/[]%?&=+,;@!$()*".contains(c);
        if !base_url.chars().all(is_plain) {
            return None;
        }
        let skills: Vec<Text> = SKILLS.iter().filter_map(|source| text(source, base_url)).collect();
        let agents: Vec<Text> = AGENTS.iter().filter_map(|source| text(source, base_url)).collect();
        let installer = installer::script(base_url, &skills, &agents);
        Some(Self { skills, agents, installer })
    }

    pub fn skill(&self, name: &str) -> Option<&Text> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    pub fn agent(&self, name: &str) -> Option<&Text> {
        self.agents.iter().find(|agent| agent.name == name)
    }
}

fn text(source: &str, base_url: &str) -> Option<Text> {
    let (name, description) = (front_matter::field(source, "name")?, front_matter::field(source, "description")?);
    let text = source.replace(BASE_URL, base_url);
    let sha256 = hex::encode(Sha256::digest(text.as_bytes()));
    Some(Text { name: name.to_owned(), description: description.to_owned(), text, sha256 })
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]
    use super::*;

    /// Rules of the agent-skills format (agentskills.io/specification).
    #[test]
    fn texts_conform_to_the_format() {
        let published = Published::new("https://api.example.com").unwrap();
        assert_eq!((published.skills.len(), published.agents.len()), (4, 1));
        for text in published.skills.iter().chain(&published.agents) {
            let name = &text.name;
            assert!(name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'), "{name}");
            assert!((1..=1024).contains(&text.description.chars().count()), "{name}");
            assert!(text.text.lines().count() < 500, "{name}");
            assert!(text.text.starts_with("---\n") && !text.text.contains("{{"), "{name}");
            assert!(!text.description.contains(": "), "{name}: a colon would need quotes in YAML");
        }
        let folders = ["retrieval-search", "retrieval-read", "retrieval-workspace", "retrieval-research"];
        assert_eq!(published.skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>(), folders);
        assert!(published.skill("retrieval-read").unwrap().text.contains("https://api.example.com/v1/document"));
        assert!(published.agent("retrieval-researcher").is_some() && published.skill("no-such").is_none());
    }

    /// Returns the names of the shell variables that a text uses.
    fn variables(text: &str) -> Vec<&str> {
        let is_name = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        let uses = text.split('$').skip(1).map(|rest| rest.trim_start_matches('{'));
        let names = uses.map(|rest| rest.split(|c: char| !is_name(c)).next().unwrap());
        names.filter(|name| name.starts_with(|c: char| c.is_ascii_uppercase())).collect()
    }

    /// The skill `retrieval-search` explains the key, without which an agent has no access at all.
    #[test]
    fn variables_are_explained_where_they_are_used() {
        assert_eq!(variables("cost $5: '\"$A_1\"' ${B} $c $"), ["A_1", "B"]);
        let published = Published::new("https://api.example.com").unwrap();
        for text in published.skills.iter().chain(&published.agents) {
            for variable in variables(&text.text).into_iter().filter(|variable| *variable != "RETRIEVAL_API_KEY") {
                assert!(text.text.contains(&format!("`{variable}`")), "{}: {variable}", text.name);
            }
        }
    }

    #[test]
    fn base_url_that_would_break_the_installer_is_rejected() {
        for address in ["https://a'b", "https://a b", "https://a\n", "https://a\"b", "https://a`b", "https://a\\b"] {
            assert!(Published::new(address).is_none(), "{address}");
        }
        assert!(Published::new("http://[::1]:8080/base").is_some());
    }
}
