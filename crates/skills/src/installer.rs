//! Shell script that installs the skills in a user's home folder.

use crate::{BASE_URL, Text};

const SCRIPT: &str = include_str!("../content/install.sh");

/// Returns the script, which fetches the texts from `base_url` and verifies their digests.
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
