//! Invalid arguments that the parser of the command line cannot tell: use cases or the input refuse them.

use app::Error;

/// Error of an invalid argument, whose message names it. The program ends with [`EXIT_STATUS`].
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidArgument(pub String);

/// Exit status for invalid arguments, which is also that of the parser.
pub const EXIT_STATUS: u8 = 2;

/// Converts an error of a use case. One about a field in `arguments`, pairs of a field and its argument, names the argument.
pub fn named(error: Error, arguments: &[(&str, &str)]) -> anyhow::Error {
    let Error::Invalid { field, message } = &error else { return error.into() };
    let name = field.split('[').next().unwrap_or_default();
    let Some((_, argument)) = arguments.iter().find(|(known, _)| *known == name) else { return error.into() };
    let message = match message.strip_prefix(field.as_str()) {
        Some(rest) => format!("{argument}{rest}"),
        None => format!("{argument}: {message}"),
    };
    InvalidArgument(message).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_argument() {
        let arguments = [("urls", "<URL>"), ("expires_at", "--expires-at"), ("host", "--host")];
        for (field, message, expected) in [
            ("urls[3]", "urls[3]: `zz` is no URL", "<URL>: `zz` is no URL"),
            ("urls", "urls: too many", "<URL>: too many"),
            ("expires_at", "expires_at must be in the future", "--expires-at must be in the future"),
            ("host", "a host or a prefix is required", "--host: a host or a prefix is required"),
        ] {
            let error = named(Error::invalid(field, message), &arguments);
            assert!(error.is::<InvalidArgument>(), "{error}");
            assert_eq!(error.to_string(), expected);
            assert!(error.context("data folder: /data").is::<InvalidArgument>());
        }
    }

    #[test]
    fn other_errors_stay() {
        for error in [Error::invalid("org", "no organization has the id"), Error::FileNotFound] {
            let message = error.to_string();
            let kept = named(error, &[("urls", "<URL>")]);
            assert!(!kept.is::<InvalidArgument>());
            assert_eq!(kept.to_string(), message);
        }
    }
}
