//! The script that puts skills into a user's home.

use crate::{BASE_URL, Text};

const SCRIPT: &str = include_str!("../content/install.sh");

/// The script for these texts: it knows their digests, and fetches them from `base_url`.
pub fn script(base_url: &str, skills: &[Text], agents: &[Text]) -> String {
    let names: Vec<&str> = skills.iter().map(|skill| skill.name.as_str()).collect();
    let case = |path: String, text: &Text| format!("    {path}) printf '%s' {} ;;", text.sha256);
    let of_skills = skills.iter().map(|skill| case(format!("{}/SKILL.md", skill.name), skill));
    let of_agents = agents.iter().map(|agent| case(format!("agents/{}.md", agent.name), agent));
    let digests: Vec<String> = of_skills.chain(of_agents).collect();
    SCRIPT
        .replace(BASE_URL, base_url)
        .replace("{{SKILLS}}", &names.join(" "))
        .replace("{{DIGESTS}}", &digests.join("\n"))
}
