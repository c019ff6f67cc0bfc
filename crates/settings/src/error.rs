use std::path::PathBuf;

/// Why the settings cannot be used. Messages are for the operator and name the key.
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
    #[error("`{key}` = `{value}`: {reason}")]
    Invalid { key: String, value: String, reason: String },
    /// As `Invalid`, where the value must not be shown or the reason quotes it.
    #[error("`{key}`: {reason}")]
    Refused { key: String, reason: String },
    #[error("{origin} gives both `{key}` and `{key}_file`: give one")]
    SecretTwice { key: String, origin: String },
    #[error("cannot read the file `{}` that `{key}_file` names", path.display())]
    SecretFile {
        key: String,
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl SettingsError {
    pub(crate) fn invalid(key: &str, value: impl ToString, reason: impl Into<String>) -> Self {
        SettingsError::Invalid { key: key.to_owned(), value: value.to_string(), reason: reason.into() }
    }

    pub(crate) fn refused(key: &str, reason: impl Into<String>) -> Self {
        SettingsError::Refused { key: key.to_owned(), reason: reason.into() }
    }
}
