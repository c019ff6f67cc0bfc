//! Origin of the API key of a command.

/// Environment variable with the API key.
pub const VARIABLE: &str = "RETRIEVAL_API_KEY";

/// Place that a command takes its API key from.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum KeySource {
    Flag,
    Variable,
    SettingsFile,
    /// The prompt or standard input of `login`.
    Input,
}

impl KeySource {
    /// Returns the source of the key that the command line and the environment give, if any.
    pub fn of(given: Option<&str>) -> Self {
        match given.map(str::trim).filter(|key| !key.is_empty()) {
            None => KeySource::SettingsFile,
            Some(key) if variable().as_deref() == Some(key) => KeySource::Variable,
            Some(_) => KeySource::Flag,
        }
    }

    /// Returns the next step after the service refused the key.
    pub fn after_refusal(self) -> String {
        match self {
            KeySource::Flag => "the key in --api-key was refused: give another one".to_owned(),
            KeySource::Variable => format!(
                "the key in {VARIABLE} was refused: set another one, or unset it to use the key of `retrieval login`"
            ),
            KeySource::SettingsFile => {
                format!("the key in the settings file was refused: run `retrieval login`, or set {VARIABLE}")
            }
            KeySource::Input => "the key was refused and is not stored".to_owned(),
        }
    }
}

/// Returns the trimmed key of the environment; `None` if there is none.
pub fn variable() -> Option<String> {
    let value = std::env::var(VARIABLE).ok()?;
    Some(value.trim().to_owned()).filter(|key| !key.is_empty())
}
