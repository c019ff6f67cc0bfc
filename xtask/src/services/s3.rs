//! An S3 store other than the embedded one: tested where its address is given, never installed or started.

use super::{Provided, Running, Service};

/// The variables that the conformance tests of `blobs-s3` need.
const VARIABLES: [&str; 4] = ["TEST_S3_ENDPOINT", "TEST_S3_KEY", "TEST_S3_SECRET", "TEST_S3_BUCKET"];

/// An S3 store that the environment names.
pub struct ExternalS3;

impl Service for ExternalS3 {
    fn name(&self) -> &'static str {
        "an external S3 store"
    }

    fn provide(&self) -> Provided {
        provided(|name| std::env::var(name).ok())
    }

    fn required_in_ci(&self) -> bool {
        false
    }
}

fn provided(variable: impl Fn(&str) -> Option<String>) -> Provided {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    match VARIABLES.into_iter().find(|name| set(name).is_none()) {
        Some(missing) => Provided::Absent { reason: format!("{missing} is not set") },
        // The tests inherit the variables from our own environment.
        None => {
            Provided::Running(Running { how: set(VARIABLES[0]).unwrap_or_default(), environment: vec![], _guard: None })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Provided, VARIABLES, provided};

    #[test]
    fn the_first_missing_variable_is_named() {
        let all = |name: &str| Some(name.to_lowercase());
        assert!(matches!(provided(all), Provided::Running(running) if running.how == "test_s3_endpoint"));
        let without_bucket = |name: &str| if name == VARIABLES[3] { Some(String::new()) } else { all(name) };
        assert!(matches!(
            provided(without_bucket),
            Provided::Absent { reason } if reason == "TEST_S3_BUCKET is not set"
        ));
    }
}
