//! The skill files of one deployment, rendered once at startup.

use std::fmt::Write;

use serde_json::{Value, json};
use skills::{Published, Text};

use crate::static_file::StaticFile;

const MARKDOWN: &str = "text/markdown; charset=utf-8";
/// Schema of the discovery index: draft 0.2.0 of "Agent Skills Discovery via Well-Known URIs".
const DISCOVERY_SCHEMA: &str = "https://schemas.agentskills.io/discovery/0.2.0/schema.json";

/// All published files, for one public URL.
pub(crate) struct SkillFiles {
    pub published: Published,
    pub skills: Vec<(String, StaticFile)>,
    pub agents: Vec<(String, StaticFile)>,
    pub installer: StaticFile,
    pub discovery: StaticFile,
    pub llms: StaticFile,
    pub public_url: String,
}

impl SkillFiles {
    /// Returns `None` if the URL cannot be quoted in a shell script.
    pub fn new(public_url: &str) -> Option<Self> {
        let published = Published::new(public_url)?;
        let files = |texts: &[Text]| {
            texts.iter().map(|text| (text.name.clone(), StaticFile::new(MARKDOWN, text.text.clone()))).collect()
        };
        Some(Self {
            skills: files(&published.skills),
            agents: files(&published.agents),
            installer: StaticFile::new("text/x-shellscript; charset=utf-8", published.installer.clone()),
            discovery: StaticFile::new("application/json", discovery_index(&published).to_string()),
            llms: StaticFile::new(MARKDOWN, llms_txt(&published, public_url)),
            public_url: public_url.to_owned(),
            published,
        })
    }

    /// Returns the skill names for a message.
    pub fn names(&self) -> String {
        self.skills.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
    }
}

fn discovery_index(published: &Published) -> Value {
    let entry = |skill: &Text| {
        json!({
            "name": skill.name,
            "type": "skill-md",
            "description": skill.description,
            "url": format!("/.well-known/agent-skills/{}/SKILL.md", skill.name),
            "digest": format!("sha256:{}", skill.sha256),
        })
    };
    let skills: Vec<Value> = published.skills.iter().map(entry).collect();
    json!({"$schema": DISCOVERY_SCHEMA, "skills": skills})
}

/// Renders `llms.txt` in the format of llmstxt.org.
fn llms_txt(published: &Published, public_url: &str) -> String {
    let mut text = format!(
        "# Retrieval\n\n> One API that searches (a shared web index and an organization's private files), reads any \
         document as clean, citable markdown, takes feedback, indexes uploaded files and reports usage.\n\n\
         Every call needs `Authorization: Bearer API_KEY`, except for the descriptions below.\n\n## Descriptions\n\n\
         - [OpenAPI 3.1]({public_url}/openapi/public.json): every operation, field and error\n\
         - [Reference]({public_url}/docs): the same as a web page\n\
         - MCP: `POST {public_url}/mcp` (streamable HTTP, the same keys)\n\
         - [Installer of the skills]({public_url}/skills/install.sh): a shell script\n\n## Skills\n\n"
    );
    for skill in &published.skills {
        let _ =
            writeln!(text, "- [{}]({public_url}/skills/{}/SKILL.md): {}", skill.name, skill.name, skill.description);
    }
    text
}
