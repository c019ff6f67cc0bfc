use std::path::PathBuf;

use crate::secret::{may_hold_secret, without_credentials};

/// Invalid settings. Messages are for the operator and name the key.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot read the configuration file `{}`", path.display())]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{origin} is not valid TOML: {message}")]
    Syntax { origin: String, message: String },
    #[error("unknown key `{key}` in {origin}{hint}")]
    UnknownKey { key: String, origin: String, hint: String },
    /// Environment variable that starts like a key and is none.
    #[error("unknown environment variable `{name}`: {hint}")]
    UnknownVariable { name: String, hint: String },
    #[error("`{key}` = `{value}`: {reason}")]
    Invalid { key: String, value: String, reason: String },
    /// Invalid value that is secret, or that the reason quotes.
    #[error("`{key}`: {reason}")]
    Refused { key: String, reason: String },
    #[error("{origin} sets both `{key}` and `{key}_file`: remove one")]
    SecretTwice { key: String, origin: String },
    #[error("cannot read the file `{}` of `{key}_file`", path.display())]
    SecretFile {
        key: String,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// Several errors, one per line.
    #[error("{}", lines(.0))]
    Several(Vec<SettingsError>),
}

fn lines(errors: &[SettingsError]) -> String {
    errors.iter().map(SettingsError::to_string).collect::<Vec<_>>().join("\n")
}

impl SettingsError {
    /// Returns the single errors.
    pub fn into_list(self) -> Vec<SettingsError> {
        match self {
            SettingsError::Several(errors) => errors,
            one => vec![one],
        }
    }

    /// Returns the key of an invalid value; `None` for other errors.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Invalid { key, .. }
            | Self::Refused { key, .. }
            | Self::SecretTwice { key, .. }
            | Self::SecretFile { key, .. } => Some(key),
            Self::Read { .. }
            | Self::Syntax { .. }
            | Self::UnknownKey { .. }
            | Self::UnknownVariable { .. }
            | Self::Several(_) => None,
        }
    }

    /// Fails with all errors, if there are any.
    pub(crate) fn check(mut errors: Vec<SettingsError>) -> Result<(), SettingsError> {
        match errors.len() {
            0 => Ok(()),
            1 => Err(errors.remove(0)),
            _ => Err(SettingsError::Several(errors)),
        }
    }

    /// Quotes the value without credentials of a URL; not at all if it may be a secret.
    pub(crate) fn invalid(key: &str, value: impl ToString, reason: impl Into<String>) -> Self {
        if may_hold_secret(key) {
            return Self::refused(key, reason);
        }
        let value = without_credentials(&value.to_string());
        SettingsError::Invalid { key: key.to_owned(), value, reason: reason.into() }
    }

    pub(crate) fn refused(key: &str, reason: impl Into<String>) -> Self {
        SettingsError::Refused { key: key.to_owned(), reason: reason.into() }
    }
}
