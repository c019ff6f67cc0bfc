//! CSS declarations that affect the visibility of text.

use super::colour::Colour;
use super::dimension::dimension;
use super::font_size::{self, FontSize};

/// Declarations of a `style` attribute or a rule.
pub(super) struct Declarations<'a> {
    /// Names and values, the important ones behind all others.
    pairs: Vec<(&'a str, &'a str)>,
    /// Number of declarations that are not important.
    normal: usize,
}

impl<'a> Declarations<'a> {
    /// Parses lowercase declarations.
    pub(super) fn parse(style: &'a str) -> Self {
        let (mut pairs, mut important) = (Vec::new(), Vec::new());
        for (name, value) in style.split(';').filter_map(|declaration| declaration.split_once(':')) {
            match value.rsplit_once('!') {
                Some((value, mark)) if mark.trim() == "important" => important.push((name.trim(), value.trim())),
                _ => pairs.push((name.trim(), value.trim())),
            }
        }
        let normal = pairs.len();
        pairs.append(&mut important);
        Self { pairs, normal }
    }

    /// Returns the important declarations.
    pub(super) fn important(&self) -> Self {
        Self { pairs: self.pairs.iter().skip(self.normal).copied().collect(), normal: 0 }
    }

    /// Returns the last declaration of a property, which wins.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        self.pairs.iter().rev().find(|(found, _)| *found == name).map(|(_, value)| *value)
    }

    /// Returns the background; `None` if it is unset or transparent.
    pub(super) fn background(&self) -> Option<Background> {
        let pictures = ["background", "background-image"].iter().filter_map(|name| self.get(name));
        if pictures.into_iter().any(|value| value.contains("url(") || value.contains("gradient")) {
            return Some(Background::Picture);
        }
        let value = self.get("background-color").or_else(|| self.get("background"))?;
        // The colour is one part of the short form: `#222 none repeat`.
        let colour = Colour::parse(value).or_else(|| value.split_whitespace().find_map(Colour::parse));
        colour.filter(|colour| !colour.is_transparent()).map(Background::Colour)
    }

    /// Returns the declarations that elements inside inherit and can override.
    pub(super) fn text_style(&self) -> TextStyle {
        let sizes = self.pairs.iter().rev().filter_map(|(name, value)| match *name {
            "font-size" => FontSize::parse(value),
            "font" => FontSize::of_font(value),
            _ => None,
        });
        let shown = match self.get("visibility") {
            Some("hidden" | "collapse") => Some(false),
            Some("visible" | "initial") => Some(true),
            _ => None,
        };
        TextStyle { size: sizes.into_iter().next(), shown }
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

    /// Returns true if the element takes no place among those around it.
    pub(super) fn take_no_place(&self) -> bool {
        self.display_nothing() || matches!(self.get("position"), Some("absolute" | "fixed"))
    }

    /// Returns true if the element is not displayed.
    pub(super) fn display_nothing(&self) -> bool {
        self.get("display") == Some("none")
    }

    /// Returns true if the declarations hide an element with all elements inside, whatever these declare.
    pub(super) fn hide_all(&self) -> bool {
        self.display_nothing() || self.hide_displayed()
    }

    /// Returns true if the declarations hide all of an element although it is displayed.
    pub(super) fn hide_displayed(&self) -> bool {
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
        (self.is_faded_out() && !self.is_animated())
            || self.get("transform").is_some_and(|value| value.replace(' ', "").contains("scale(0)"))
            || clipped
            || away
            || cut
    }
}

/// Declarations on text that elements inherit from those around them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TextStyle {
    pub size: Option<FontSize>,
    /// `visibility`: false for `hidden`.
    pub shown: Option<bool>,
}

impl TextStyle {
    /// Returns these declarations, and those of `other` for what is not declared.
    pub(super) fn or(self, other: Self) -> Self {
        Self { size: self.size.or(other.size), shown: self.shown.or(other.shown) }
    }

    /// Returns true if the declarations hide text of the usual size.
    pub(super) fn hides(self) -> bool {
        self.shown == Some(false)
            || self.size.is_some_and(|size| font_size::is_unreadable(size.within(font_size::USUAL)))
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
    match dimension(value)? {
        (number, "" | "px") => Some(number),
        (number, "pt") => Some(number * 4.0 / 3.0),
        (number, "em" | "rem") => Some(number * 16.0),
        (0.0, _) => Some(0.0),
        _ => None,
    }
}
