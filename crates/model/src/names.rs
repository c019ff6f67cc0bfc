use std::error::Error;
use std::fmt;

/// A name that no variant of an enum has.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct UnknownName {
    /// Kind of name that was expected, such as `run state`.
    pub expected: &'static str,
    pub name: String,
}

impl fmt::Display for UnknownName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown {} `{}`", self.expected, self.name)
    }
}

impl Error for UnknownName {}

/// Defines an enum whose variants have names: in columns, on the wire, in logs.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $enum:ident: $expected:literal { $($(#[$variant_meta:meta])* $variant:ident = $name:literal,)* }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
        pub enum $enum {
            $($(#[$variant_meta])* $variant,)*
        }

        impl $enum {
            /// All variants, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stored name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl std::str::FromStr for $enum {
            type Err = crate::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                match name {
                    $($name => Ok(Self::$variant),)*
                    _ => Err(crate::UnknownName { expected: $expected, name: name.to_owned() }),
                }
            }
        }

        impl std::fmt::Display for $enum {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(crate) use named_enum;

#[cfg(test)]
mod tests {
    use crate::{
        AuditAction, CrawlStatus, CrawlUrlKind, CrawlUrlState, FeedbackEvent, FileOutcome, IndexName, ResearchStatus,
        ResearchStop, RunMode, RunState, Scope, UnknownName, WebhookEvent,
    };

    #[test]
    fn names_round_trip() {
        fn check<T: Copy + std::fmt::Debug + PartialEq + std::str::FromStr<Err = UnknownName>>(
            all: &[T],
            name: impl Fn(T) -> &'static str,
        ) {
            for value in all {
                assert_eq!(name(*value).parse::<T>().as_ref(), Ok(value));
            }
        }
        check(AuditAction::ALL, AuditAction::as_str);
        check(CrawlStatus::ALL, CrawlStatus::as_str);
        check(CrawlUrlKind::ALL, CrawlUrlKind::as_str);
        check(CrawlUrlState::ALL, CrawlUrlState::as_str);
        check(FeedbackEvent::ALL, FeedbackEvent::as_str);
        check(FileOutcome::ALL, FileOutcome::as_str);
        check(IndexName::ALL, IndexName::as_str);
        check(ResearchStatus::ALL, ResearchStatus::as_str);
        check(ResearchStop::ALL, ResearchStop::as_str);
        check(RunMode::ALL, RunMode::as_str);
        check(RunState::ALL, RunState::as_str);
        check(Scope::ALL, Scope::as_str);
        check(WebhookEvent::ALL, WebhookEvent::as_str);
    }

    #[test]
    fn unknown_name_is_quoted() {
        let error = "exploded".parse::<RunState>().expect_err("no such state");
        assert_eq!(error.to_string(), "unknown run state `exploded`");
    }
}
