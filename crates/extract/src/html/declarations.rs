//! CSS declarations that affect the visibility of text.

use super::colour::Colour;

/// Declarations of a `style` attribute.
pub(super) struct Declarations<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Declarations<'a> {
    pub(super) fn parse(style: &'a str) -> Self {
        let pairs = style.split(';').filter_map(|declaration| declaration.split_once(':'));
        Self(pairs.map(|(name, value)| (name.trim(), value.trim().trim_end_matches("!important").trim_end())).collect())
    }

    /// Returns the last declaration of a property, which wins.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().rev().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }

    /// Returns the background; `None` if it is unset or transparent.
    pub(super) fn background(&self) -> Option<Background> {
        let pictures = ["background", "background-image"].iter().filter_map(|name| self.get(name));
        if pictures.into_iter().any(|value| value.contains("url(") || value.contains("gradient")) {
            return Some(Background::Picture);
        }
        let value = self.get("background-color").or_else(|| self.get("background"))?;
        Colour::parse(value).filter(|colour| !colour.is_transparent()).map(Background::Colour)
    }

    pub(super) fn is_faded_out(&self) -> bool {
        let faded = |value: &str| value.parse::<f64>().is_ok_and(|opacity| opacity < 0.05);
        self.get("opacity").is_some_and(faded)
            || self.get("filter").and_then(|value| value.strip_prefix("opacity(")?.strip_suffix(')')).is_some_and(faded)
    }

    /// Returns true if scripts fade or move the element in on scrolling.
    fn is_animated(&self) -> bool {
        ["transform", "transition", "animation", "will-change"].iter().any(|name| self.get(name).is_some())
    }

    /// Returns true if the declarations make text invisible.
    pub(super) fn hide(&self) -> bool {
        let is = |name: &str, values: &[&str]| self.get(name).is_some_and(|value| values.contains(&value));
        let at_most = |name: &str, limit: f64| self.get(name).and_then(length).is_some_and(|length| length <= limit);
        let clipped = is("overflow", &["hidden", "clip"])
            && (at_most("height", 1.0)
                || at_most("width", 1.0)
                || at_most("max-height", 1.0)
                || at_most("max-width", 1.0));
        let away =
            ["left", "top", "right", "bottom", "text-indent", "margin-left"].iter().any(|name| at_most(name, -900.0));
        let cut = self.get("clip").is_some_and(|value| value.replace(' ', "").contains("rect(0"))
            || self.get("clip-path").is_some_and(|value| {
                value.replace(' ', "").contains("inset(100%)") || value.replace(' ', "").contains("inset(50%)")
            });
        is("display", &["none"])
            || is("visibility", &["hidden", "collapse"])
            || (self.is_faded_out() && !self.is_animated())
            || self.get("transform").is_some_and(|value| value.replace(' ', "").contains("scale(0)"))
            || at_most("font-size", 1.0)
            || clipped
            || away
            || cut
    }
}

/// Background of a text.
#[derive(Clone, Copy)]
pub(super) enum Background {
    Colour(Colour),
    Picture,
}

/// Returns an approximate length in pixels; `None` for other units and keywords.
fn length(value: &str) -> Option<f64> {
    let digits = value.find(|c: char| !matches!(c, '0'..='9' | '.' | '-' | '+')).unwrap_or(value.len());
    let number: f64 = value[..digits].parse().ok()?;
    match value[digits..].trim() {
        "" | "px" => Some(number),
        "pt" => Some(number * 4.0 / 3.0),
        "em" | "rem" => Some(number * 16.0),
        _ if number == 0.0 => Some(0.0),
        _ => None,
    }
}
