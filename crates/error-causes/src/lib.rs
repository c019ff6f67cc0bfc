#![doc = include_str!("../README.md")]

use std::error::Error;
use std::io;

/// Iterates over an error and its causes, outermost first. The error inside an [`io::Error`] counts as its cause.
pub fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| cause_of(*cause))
}

fn cause_of<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    inner.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
}

/// Returns the messages of an error and its causes on one line, separated by `: `.
pub fn describe(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    append_causes(&mut text, error);
    text
}

/// Appends the messages of an error's causes, without its own. A message that the text ends with is not repeated: many
/// errors already contain that of their cause.
pub fn append_causes(text: &mut String, error: &(dyn Error + 'static)) {
    for message in causes(error).skip(1).map(ToString::to_string) {
        if !text.ends_with(&message) {
            text.push_str(": ");
            text.push_str(&message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;

    #[derive(Debug)]
    struct Failure(&'static str, Option<Box<dyn Error + Send + Sync>>);

    impl fmt::Display for Failure {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl Error for Failure {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            self.1.as_deref().map(|cause| cause as _)
        }
    }

    fn nested() -> Failure {
        let refused = Failure("connection refused", None);
        let io = io::Error::other(Failure("cannot connect: connection refused", Some(refused.into())));
        Failure("the upload failed", Some(io.into()))
    }

    #[test]
    fn messages_are_joined_without_repetition() {
        assert_eq!(describe(&nested()), "the upload failed: cannot connect: connection refused");
        assert_eq!(describe(&Failure("alone", None)), "alone");
        let mut text = "no answer".to_owned();
        append_causes(&mut text, &nested());
        assert_eq!(text, "no answer: cannot connect: connection refused");
    }

    #[test]
    fn error_inside_an_io_error_is_found() {
        assert_eq!(causes(&nested()).filter(|cause| cause.is::<Failure>()).count(), 3);
    }
}
