//! Appearance of text, by the declarations of its element and of those around it.

use dom_query::NodeRef;

use super::colour::Colour;
use super::declarations::{Background, Declarations};
use super::font_size;
use super::style_rules::Ruled;

/// Elements whose `background` attribute is a picture (HTML, 15.3).
const PICTURED: [&str; 8] = ["body", "table", "thead", "tbody", "tfoot", "tr", "td", "th"];

/// Properties of an element that its text inherits. An element inside can declare each of them anew.
#[derive(Clone, Copy)]
pub(super) struct Appearance {
    /// Size of text, in pixels.
    size: f64,
    /// `visibility`.
    shown: bool,
    /// `None` if it is not known.
    colour: Option<Colour>,
    background: Option<Background>,
    /// Set for text in the colour of its background.
    camouflaged: bool,
}

impl Appearance {
    /// Returns the appearance of text without declarations. A page without style sheets is white.
    pub(super) fn of_page(styled: bool) -> Self {
        let background = (!styled).then_some(Background::Colour(Colour::WHITE));
        Self { size: font_size::USUAL, shown: true, colour: None, background, camouflaged: false }
    }

    /// Returns the appearance of text in an element inside.
    pub(super) fn inside(self, element: &NodeRef, declarations: &Declarations, ruled: Ruled) -> Self {
        let attribute_size = || element.has_name("font") && element.has_attr("size");
        let own = declarations.important().text_style().or(ruled.important).or(declarations.text_style());
        let text = own.or(ruled.hiding).or(ruled.showing);
        let around = if text.size.is_none() && attribute_size() { font_size::USUAL } else { self.size };
        let size = text.size.map_or(around, |size| size.within(around));
        let shown = text.shown.unwrap_or(self.shown);
        Self { size, shown, ..self }.coloured(element, declarations)
    }

    /// Returns the appearance with the background of an element, if it declares one.
    pub(super) fn on_background_of(self, element: &NodeRef, declarations: &Declarations) -> Self {
        let attribute = || element.attr("bgcolor").and_then(|value| Colour::parse(&value)).map(Background::Colour);
        let picture = has_picture(element, declarations).then_some(Background::Picture);
        let background = picture.or_else(|| declarations.background()).or_else(attribute).or(self.background);
        Self { background, ..self }
    }

    fn coloured(self, element: &NodeRef, declarations: &Declarations) -> Self {
        let on = self.on_background_of(element, declarations);
        let attribute = element.has_name("font").then(|| element.attr("color")).flatten();
        let declared =
            declarations.get("color").map(str::to_owned).or_else(|| attribute.map(|value| value.to_string()));
        let declared = declared.unwrap_or_default();
        let colour = Colour::parse(&declared);
        // A variable or function may be any colour.
        if colour.is_none() && (declared.ends_with(')') || declared == "initial") {
            return Self { colour: None, camouflaged: false, ..on };
        }
        // Another background can only show text that was hidden: a style sheet may declare other colours for it.
        let examined = if colour.is_some() { colour } else { self.colour.filter(|_| self.camouflaged) };
        let camouflaged = examined.is_some_and(|colour| on.has_colour_of_background(colour, declarations));
        Self { colour: colour.or(self.colour), camouflaged, ..on }
    }

    fn has_colour_of_background(&self, colour: Colour, declarations: &Declarations) -> bool {
        // With a clipped background the letters are cut out of it and visible.
        if colour.is_transparent() {
            let clip = declarations.get("-webkit-background-clip").or_else(|| declarations.get("background-clip"));
            return clip != Some("text");
        }
        matches!(self.background, Some(Background::Colour(behind)) if behind.looks_like(colour))
    }

    /// Returns true if text is invisible.
    pub(super) fn hides_text(&self) -> bool {
        !self.shown || self.camouflaged || font_size::is_unreadable(self.size)
    }

    /// Returns true if images are invisible. They have neither a size nor a colour of text.
    pub(super) fn hides_images(&self) -> bool {
        !self.shown
    }
}

/// Returns true for a picture of the `background` attribute, unless the element's style declares another one.
fn has_picture(element: &NodeRef, declarations: &Declarations) -> bool {
    element.attr("background").is_some_and(|value| !value.trim().is_empty())
        && PICTURED.iter().any(|name| element.has_name(name))
        && declarations.get("background").or(declarations.get("background-image")).is_none()
}
