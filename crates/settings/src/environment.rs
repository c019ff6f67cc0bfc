//! Settings from environment variables: `RETRIEVAL__SECTION__KEY=value`.

use figment::value::{Dict, Num, Tag, Value};

use crate::keys::{distance, find, insert, paths};
use crate::secret::SECRETS;
use crate::{ENVIRONMENT_PREFIX, SettingsError};

/// Start of all variables of this project.
const PROJECT_PREFIX: &str = "RETRIEVAL_";

/// Variables of the project's other programs: the `retrieval` command line, tests and checks.
const OTHER_PROGRAMS: [&str; 9] = [
    "RETRIEVAL_API_KEY",
    "RETRIEVAL_BASE_URL",
    "RETRIEVAL_BIN",
    "RETRIEVAL_CONFIG",
    "RETRIEVAL_NOT_CHECKED",
    "RETRIEVAL_SERVER_BIN",
    "RETRIEVAL_SERVER_OLD_BIN",
    "RETRIEVAL_SESSION_ID",
    "RETRIEVAL_WORKSPACE_ID",
];

/// Returns true for the variable of a setting, and for one that begins like it and is none. Variables of the project's other programs are
/// not the server's.
pub fn is_own_variable(name: &str) -> bool {
    name.starts_with(PROJECT_PREFIX) && !OTHER_PROGRAMS.contains(&name)
}

/// Parses the variables. The default's type decides how a value is parsed, so that an API key such as `123456` stays
/// text; lists are comma-separated. Unknown keys are kept and rejected later with those of the file.
pub(crate) fn parse(
    pairs: impl IntoIterator<Item = (String, String)>,
    defaults: &Dict,
    errors: &mut Vec<SettingsError>,
) -> Dict {
    let mut keys = Dict::new();
    for (name, text) in pairs {
        if let Some(path) = name.strip_prefix(ENVIRONMENT_PREFIX) {
            let path: Vec<String> = path.split("__").map(str::to_lowercase).collect();
            if let Err(error) = value(&path, &text, defaults)
                .and_then(|value| insert(&mut keys, &path, value).map_err(|()| "is below a key that is not a section"))
                .map_err(|reason| SettingsError::invalid(&path.join("."), &text, reason))
            {
                errors.push(error);
            }
        } else if is_own_variable(&name) && !is_service_link(&name, &text) {
            let hint = nearest_variable(&name[PROJECT_PREFIX.len()..], defaults, 2).map_or_else(
                || format!("variables of settings are `{ENVIRONMENT_PREFIX}SECTION__KEY`"),
                |near| format!("did you mean `{near}`?"),
            );
            errors.push(SettingsError::UnknownVariable { name, hint });
        }
    }
    keys
}

fn value(path: &[String], text: &str, defaults: &Dict) -> Result<Value, &'static str> {
    Ok(match find(defaults, path) {
        Some(Value::Bool(..)) => Value::from(text.trim().parse::<bool>().map_err(|_| "is not true or false")?),
        Some(Value::Num(_, Num::F32(_) | Num::F64(_))) => {
            Value::from(text.trim().parse::<f64>().map_err(|_| "is not a number")?)
        }
        Some(Value::Num(..)) => {
            let number = text.trim().parse::<u64>().map_err(|_| "is not a whole number of 0 or more")?;
            Value::Num(Tag::Default, Num::U64(number))
        }
        Some(Value::Array(..)) => {
            Value::from(text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect::<Vec<_>>())
        }
        Some(Value::Dict(..)) => return Err("is a section, not a value"),
        Some(Value::String(..) | Value::Char(..) | Value::Empty(..)) | None => Value::from(text),
    })
}

/// Returns the variable of the key that resembles `name`, if at most `tolerance` characters differ. Underscores and dots
/// count as one separator each, however many there are.
pub(crate) fn nearest_variable(name: &str, defaults: &Dict, tolerance: usize) -> Option<String> {
    let separators = ['_', '.'];
    let plain = |text: &str| text.split(separators).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("_");
    let name = plain(&name.to_lowercase());
    let secret_files = SECRETS.iter().map(|key| format!("{key}_file").split('.').map(str::to_owned).collect());
    let known = paths(defaults).into_iter().chain(secret_files);
    let difference = |path: &Vec<String>| distance(&plain(&path.join("_")), &name);
    let nearest = known.min_by_key(difference)?;
    (difference(&nearest) <= tolerance).then(|| format!("{ENVIRONMENT_PREFIX}{}", nearest.join("__").to_uppercase()))
}

/// Returns true for the variables that Kubernetes and Docker links set for a service named `retrieval` or `retrieval-*`.
fn is_service_link(name: &str, value: &str) -> bool {
    const PROTOCOLS: [&str; 3] = ["TCP", "UDP", "SCTP"];
    let is_address = PROTOCOLS.iter().any(|protocol| {
        value.to_ascii_uppercase().starts_with(&format!("{protocol}://")) && name.contains("_PORT")
            || ["PROTO", "PORT", "ADDR"].iter().any(|part| name.ends_with(&format!("_{protocol}_{part}")))
    });
    is_address || name.ends_with("_SERVICE_HOST") || name.contains("_SERVICE_PORT")
}
