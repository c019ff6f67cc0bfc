//! CSS font sizes, as far as needed to recognize text that no one can read.

use super::dimension::dimension;

/// Size of text without declarations, in pixels.
pub(super) const USUAL: f64 = 16.0;
/// Maximum size of text that no one can read, in pixels.
const MAX_UNREADABLE: f64 = 1.0;
/// Maximum size, in pixels. Keeps products of nested relative sizes finite.
const MAX: f64 = 1e6;

/// Declared size of text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum FontSize {
    /// Approximate size in pixels.
    Pixels(f64),
    /// Multiple of the size around the element.
    Times(f64),
}

impl FontSize {
    /// Parses a lowercase `font-size` (CSS Fonts 4, 2.5). Returns `None` for inherited sizes, and for invalid ones, which
    /// browsers ignore.
    pub(super) fn parse(value: &str) -> Option<Self> {
        match value {
            "smaller" => return Some(Self::Times(0.8)),
            "larger" => return Some(Self::Times(1.2)),
            "initial" | "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large"
            | "xxx-large" => {
                return Some(Self::Pixels(USUAL));
            }
            // Functions such as `calc()` and `clamp()` are not computed: designers size visible text by them.
            _ if value.ends_with(')') => return Some(Self::Pixels(USUAL)),
            _ => {}
        }
        let (number, unit) = dimension(value)?;
        let pixels = match unit {
            _ if number < 0.0 => return None,
            "em" => return Some(Self::Times(number)),
            "ex" | "ch" => return Some(Self::Times(number / 2.0)),
            "%" => return Some(Self::Times(number / 100.0)),
            "" | "px" => 1.0,
            "pt" => 4.0 / 3.0,
            "pc" | "rem" => USUAL,
            "in" => 96.0,
            "cm" => 37.8,
            "mm" => 3.78,
            // A hundredth of a window.
            "vw" | "vh" | "vmin" | "vmax" => 10.0,
            _ if number == 0.0 => 0.0,
            _ => return None,
        };
        Some(Self::Pixels(number * pixels))
    }

    /// Parses the size in a lowercase `font`: `bold 12px/1.5 serif`.
    pub(super) fn of_font(value: &str) -> Option<Self> {
        let sizes = value.split_whitespace().filter_map(|part| {
            let size = part.split('/').next()?;
            // A number without a unit is a weight.
            let weight = matches!(dimension(size), Some((number, "")) if number > 0.0);
            Self::parse(size).filter(|_| !weight)
        });
        sizes.into_iter().next()
    }

    /// Returns the size in pixels inside of text of the size `around`.
    pub(super) fn within(self, around: f64) -> f64 {
        match self {
            Self::Pixels(size) => size.min(MAX),
            Self::Times(factor) => (around * factor.min(MAX)).min(MAX),
        }
    }
}

/// Returns true if no one can read text of this size in pixels.
pub(super) fn is_unreadable(size: f64) -> bool {
    size <= MAX_UNREADABLE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_absolute_or_relative() {
        for (value, size) in [
            ("0", Some(0.0)),
            ("0px", Some(0.0)),
            ("0vw", Some(0.0)),
            ("0lh", Some(0.0)),
            ("12px", Some(12.0)),
            (".5in", Some(48.0)),
            ("1rem", Some(16.0)),
            ("small", Some(16.0)),
            ("calc(1em + 1vw)", Some(16.0)),
            ("2em", Some(20.0)),
            ("50%", Some(5.0)),
            ("0em", Some(0.0)),
            ("larger", Some(12.0)),
            ("inherit", None),
            ("-1px", None),
            ("3 px 4", None),
            ("no such size", None),
            ("é", None),
            ("", None),
        ] {
            assert_eq!(FontSize::parse(value).map(|size| size.within(10.0)), size, "{value}");
        }
        assert!(FontSize::parse(&"9".repeat(400)).is_some_and(|size| size.within(10.0).is_finite()));
    }

    #[test]
    fn size_is_part_of_a_font() {
        for (value, size) in [
            ("0/0 a", Some(0.0)),
            ("italic bold 12px/1.5 serif", Some(12.0)),
            ("700 1em arial", Some(10.0)),
            ("inherit", None),
            ("", None),
        ] {
            assert_eq!(FontSize::of_font(value).map(|size| size.within(10.0)), size, "{value}");
        }
    }
}
