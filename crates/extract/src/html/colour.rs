//! CSS colours, as far as needed to compare text with its background.

use cssparser::color::parse_named_color;

/// Red, green and blue from 0 to 255, opacity from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colour([f64; 4]);

/// Maximum difference per channel of colours that look the same: ivory is a white.
const MAX_DIFFERENCE: f64 = 15.0;
/// Opacity below which text is invisible.
const MIN_OPACITY: f64 = 0.05;

impl Colour {
    pub(super) const WHITE: Self = Self([255.0, 255.0, 255.0, 1.0]);

    /// Parses hex, `rgb()`, `hsl()` and the names of colours (CSS Color 4); `None` for others.
    pub(super) fn parse(value: &str) -> Option<Self> {
        let value = value.trim().to_ascii_lowercase();
        let value = value.trim_end_matches("!important").trim_end();
        if let Some(hex) = value.strip_prefix('#') {
            return Self::from_hex(hex);
        }
        if let Some((function, arguments)) = value.split_once('(') {
            // A background may have more parts behind its colour.
            let arguments = arguments.split(')').next().unwrap_or_default();
            let numbers: Vec<f64> = arguments
                .split(|c: char| c == ',' || c == '/' || c.is_whitespace())
                .filter(|part| !part.is_empty())
                .map(number)
                .collect::<Option<_>>()?;
            let [a, b, c] = *numbers.get(..3)? else { return None };
            let opacity = numbers.get(3).copied().unwrap_or(1.0);
            return match function {
                "rgb" | "rgba" => Some(Self([a, b, c, opacity])),
                "hsl" | "hsla" => Some(Self::from_hsl(a, b / 255.0, c / 255.0, opacity)),
                _ => None,
            };
        }
        if value == "transparent" {
            return Some(Self([0.0; 4]));
        }
        let (red, green, blue) = parse_named_color(value).ok()?;
        Some(Self([f64::from(red), f64::from(green), f64::from(blue), 1.0]))
    }

    fn from_hex(hex: &str) -> Option<Self> {
        let digits: Vec<f64> = hex.chars().map(|c| c.to_digit(16).map(f64::from)).collect::<Option<_>>()?;
        let channels: Vec<f64> = match digits.len() {
            3 | 4 => digits.iter().map(|digit| digit * 17.0).collect(),
            6 | 8 => digits.chunks(2).map(|pair| pair[0] * 16.0 + pair[1]).collect(),
            _ => return None,
        };
        Some(Self([channels[0], channels[1], channels[2], channels.get(3).map_or(1.0, |opacity| opacity / 255.0)]))
    }

    /// Converts from HSL (CSS Color 4, 7.1): hue in degrees, saturation and lightness from 0 to 1.
    fn from_hsl(hue: f64, saturation: f64, lightness: f64, opacity: f64) -> Self {
        let channel = |n: f64| {
            let k = (n + hue / 30.0).rem_euclid(12.0);
            let reach = saturation * lightness.min(1.0 - lightness);
            255.0 * (lightness - reach * (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0))
        };
        Self([channel(0.0), channel(8.0), channel(4.0), opacity])
    }

    pub(super) fn is_transparent(self) -> bool {
        self.0[3] < MIN_OPACITY
    }

    pub(super) fn looks_like(self, other: Self) -> bool {
        self.0[..3].iter().zip(&other.0[..3]).all(|(one, two)| (one - two).abs() <= MAX_DIFFERENCE)
    }
}

/// Parses a number. 100% is 255, as in `rgb()`; `hsl()` divides it by 255 again.
fn number(text: &str) -> Option<f64> {
    match text.strip_suffix('%') {
        Some(share) => share.parse::<f64>().ok().map(|share| share * 2.55),
        None => text.trim_end_matches("deg").parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notations_of_one_colour_are_equal() {
        for white in [
            "#fff",
            "#FFFFFF",
            "white",
            "rgb(255,255,255)",
            "rgb(100% 100% 100%)",
            "hsl(0, 0%, 100%)",
            "#fefefe",
            "#ffff",
            "hsla(120 30% 99% / 1)",
            "ivory !important",
        ] {
            assert!(Colour::parse(white).is_some_and(|colour| colour.looks_like(Colour::WHITE)), "{white}");
        }
        for other in ["#000", "hsl(0,100%,50%)", "rgb(200,255,255)", "#ccc", "red", "Navy"] {
            assert!(Colour::parse(other).is_some_and(|colour| !colour.looks_like(Colour::WHITE)), "{other}");
        }
        let red = Colour::parse("red").expect("a colour");
        assert!(Colour::parse("hsl(360deg 100% 50%)").is_some_and(|colour| colour.looks_like(red)));
        for unseen in ["transparent", "rgba(0,0,0,0)", "#12345600", "rgb(9 9 9 / 0%)"] {
            assert!(Colour::parse(unseen).is_some_and(Colour::is_transparent), "{unseen}");
        }
        for none in ["inherit", "currentcolor", "var(--x)", "#12", "#ggg", "rgb(1,2)", "", "rgb(é)"] {
            assert_eq!(Colour::parse(none), None, "{none}");
        }
    }
}
