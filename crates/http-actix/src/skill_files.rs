//! The skill files of one deployment, rendered once at startup.

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
