//! Places of the shapes of a slide, in the markup of the slide: placeholders get theirs from the layout, and those of
//! shapes in groups become places on the slide.

use std::ops::Range;

use quick_xml::events::{BytesStart, Event};

use super::placeholders::Layout;
use crate::xml;

/// Returns the part of a slide with the places of all shapes. Returns `None` if nothing changes, and for malformed XML.
pub(super) fn stated(part: &str, layout: Option<&Layout>) -> Option<String> {
    let mut reader = xml::lenient(part);
    let mut places = Places { layout, open: Vec::new(), groups: Vec::new(), shape: None, edits: Vec::new() };
    loop {
        let start = xml::place(&reader)?;
        let event = reader.read_event().ok()?;
        let place = start..xml::place(&reader)?;
        match event {
            Event::Start(element) => places.start(&element, place),
            Event::Empty(element) => places.empty(&element, place),
            Event::End(_) => places.end(),
            Event::Eof => break,
            _ => {}
        }
    }
    if places.edits.is_empty() {
        return None;
    }
    let mut out = String::with_capacity(part.len());
    let mut copied = 0;
    for (replaced, markup) in &places.edits {
        out.push_str(part.get(copied..replaced.start)?);
        out.push_str(markup);
        copied = replaced.end;
    }
    out.push_str(part.get(copied..)?);
    Some(out)
}

/// Open element.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Open {
    Group,
    GroupProperties,
    /// Place of a group on what it stands in, and the place of its coordinates.
    GroupFrame,
    Shape,
    ShapeProperties,
    ShapeFrame,
    Other,
}

/// Horizontal or vertical coordinates in a group, as a scale and an offset of those on the slide.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Axis {
    scale: f64,
    offset: f64,
}

impl Axis {
    const SLIDE: Self = Self { scale: 1.0, offset: 0.0 };

    /// Returns the axis of a group. Its coordinates from `child` on, over the length `child_length`, are those around it
    /// from `place` on, over the length `length`.
    fn inside(self, place: f64, length: f64, child: f64, child_length: f64) -> Self {
        let scale = if child_length > 0.0 && length > 0.0 { length / child_length } else { 1.0 };
        Self { scale: self.scale * scale, offset: self.scale.mul_add(place - child * scale, self.offset) }
    }

    /// Returns the place on the slide.
    fn on_slide(self, place: f64) -> i64 {
        // The conversion saturates.
        self.scale.mul_add(place, self.offset).round() as i64
    }
}

/// Group of shapes (ECMA-376 part 1, 19.3.1.22).
struct Group {
    axes: [Axis; 2],
    /// Pairs of its frame: `off`, `ext`, `chOff` and `chExt`.
    frame: [Option<[f64; 2]>; 4],
}

/// Open shape.
#[derive(Default)]
struct Shape {
    is_placed: bool,
    /// Place in the part behind the start tag of the properties.
    properties: Option<usize>,
    /// Type and index of the placeholder that the shape is.
    placeholder: Option<(Option<String>, Option<u32>)>,
}

struct Places<'l> {
    layout: Option<&'l Layout>,
    open: Vec<Open>,
    groups: Vec<Group>,
    shape: Option<Shape>,
    /// Ranges of the part with what replaces them, in the order of the part.
    edits: Vec<(Range<usize>, String)>,
}

impl Places<'_> {
    fn start(&mut self, element: &BytesStart, place: Range<usize>) {
        let open = self.note(element, &place, "");
        match open {
            Open::Group => self.groups.push(Group { axes: self.axes(), frame: [None; 4] }),
            Open::Shape => self.shape = Some(Shape::default()),
            Open::ShapeProperties => {
                if let Some(shape) = &mut self.shape {
                    shape.properties = Some(place.end);
                }
            }
            Open::GroupProperties | Open::GroupFrame | Open::ShapeFrame | Open::Other => {}
        }
        self.open.push(open);
    }

    fn empty(&mut self, element: &BytesStart, place: Range<usize>) {
        if self.note(element, &place, "/") == Open::ShapeProperties
            && let Some(frame) = self.inherited()
        {
            let name = element.name();
            let name: &str = name.as_ref();
            self.edits.push((place, format!("<{name}>{frame}</{name}>")));
        }
    }

    fn end(&mut self) {
        match self.open.pop() {
            Some(Open::Group) => {
                self.groups.pop();
            }
            Some(Open::GroupProperties) => self.place_group(),
            Some(Open::Shape) => self.shape = None,
            Some(Open::ShapeProperties) => {
                let behind = self.shape.as_ref().and_then(|shape| shape.properties);
                if let Some(behind) = behind
                    && let Some(frame) = self.inherited()
                {
                    self.edits.push((behind..behind, frame));
                }
            }
            _ => {}
        }
    }

    /// Returns the meaning of an element, and notes what it states. `close` is what closes the tag before its `>`.
    fn note(&mut self, element: &BytesStart, place: &Range<usize>, close: &str) -> Open {
        let name = element.local_name();
        let name: &str = name.as_ref();
        match (name, self.open.last().copied()) {
            ("grpSp", _) => return Open::Group,
            ("grpSpPr", Some(Open::Group)) => return Open::GroupProperties,
            ("xfrm", Some(Open::GroupProperties)) => return Open::GroupFrame,
            ("sp" | "pic" | "graphicFrame", _) if self.shape.is_none() => return Open::Shape,
            ("spPr", Some(Open::Shape)) => return Open::ShapeProperties,
            ("xfrm", Some(Open::ShapeProperties | Open::Shape)) => return Open::ShapeFrame,
            ("off", Some(Open::ShapeFrame)) => {
                if let Some(shape) = &mut self.shape {
                    shape.is_placed = true;
                }
                self.move_shape(element, place, close);
            }
            ("ph", _) => {
                if let Some(shape) = &mut self.shape {
                    let index = xml::attribute(element, "idx").and_then(|index| index.parse().ok());
                    shape.placeholder.get_or_insert((xml::attribute(element, "type"), index));
                }
            }
            (_, Some(Open::GroupFrame)) => {
                let at = ["off", "ext", "chOff", "chExt"].iter().position(|known| *known == name);
                let pair = if name.ends_with("xt") { ["cx", "cy"] } else { ["x", "y"] };
                let pair = pair.map(|axis| number(element, axis));
                if let Some(noted) = at.zip(self.groups.last_mut()).and_then(|(at, group)| group.frame.get_mut(at)) {
                    *noted = Some(pair);
                }
            }
            _ => {}
        }
        Open::Other
    }

    /// Returns the axes of the innermost group.
    fn axes(&self) -> [Axis; 2] {
        self.groups.last().map_or([Axis::SLIDE; 2], |group| group.axes)
    }

    /// Sets the axes of the innermost group, whose frame has been read.
    fn place_group(&mut self) {
        let Some(Group { axes: [across, down], frame }) = self.groups.last_mut() else { return };
        if let [Some(place), Some(length), Some(child), Some(child_length)] = *frame {
            *across = across.inside(place[0], length[0], child[0], child_length[0]);
            *down = down.inside(place[1], length[1], child[1], child_length[1]);
        }
    }

    /// Replaces the place of a shape in a group by that on the slide.
    fn move_shape(&mut self, element: &BytesStart, place: &Range<usize>, close: &str) {
        let [across, down] = self.axes();
        if across != Axis::SLIDE || down != Axis::SLIDE {
            let [x, y] = [across.on_slide(number(element, "x")), down.on_slide(number(element, "y"))];
            let name = element.name();
            let name: &str = name.as_ref();
            self.edits.push((place.clone(), format!(r#"<{name} x="{x}" y="{y}"{close}>"#)));
        }
    }

    /// Returns the markup of the place that the open shape has from the layout, unless it states one.
    fn inherited(&self) -> Option<String> {
        let shape = self.shape.as_ref().filter(|shape| !shape.is_placed)?;
        let (kind, index) = shape.placeholder.as_ref()?;
        let place = self.layout?.place(kind.as_deref(), *index)?;
        Some(format!(
            r#"<a:xfrm><a:off x="{}" y="{}"/><a:ext cx="{}" cy="{}"/></a:xfrm>"#,
            place.x, place.y, place.cx, place.cy
        ))
    }
}

/// Returns a coordinate or length. What is no whole number is 0, as for the library.
fn number(element: &BytesStart, name: &str) -> f64 {
    let number = xml::attribute(element, name).and_then(|number| number.parse::<i64>().ok());
    number.unwrap_or_default() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(x: &str, y: &str) -> String {
        format!(r#"<p:sp><p:spPr><a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="1" cy="1"/></a:xfrm></p:spPr></p:sp>"#)
    }

    /// Builds a group from its offset, its length, the first coordinate in it and the length of these, on both axes.
    fn group(frame: [&str; 4], content: &str) -> String {
        let [off, ext, child, child_ext] = frame;
        format!(
            r#"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr><a:xfrm><a:off x="{off}" y="{off}"/><a:ext cx="{ext}" cy="{ext}"/><a:chOff x="{child}" y="{child}"/><a:chExt cx="{child_ext}" cy="{child_ext}"/></a:xfrm></p:grpSpPr>{content}</p:grpSp>"#
        )
    }

    #[test]
    fn places_in_groups_become_places_on_the_slide() {
        let double = ["100", "40", "10", "20"];
        for (part, expected) in [
            (group(double, &shape("12", "20")), group(double, &shape("104", "120"))),
            (
                group(double, &group(["20", "1", "0", "2"], &shape("8", "8"))),
                group(double, &group(["20", "1", "0", "2"], &shape("128", "128"))),
            ),
            // No division by zero, and no overflow.
            (
                group(["100", "40", "10", "0"], &shape("12", "20")),
                group(["100", "40", "10", "0"], &shape("102", "110")),
            ),
            (
                group(["1", "9223372036854775807", "0", "1"], &shape("9223372036854775807", "0")),
                group(["1", "9223372036854775807", "0", "1"], &shape("9223372036854775807", "1")),
            ),
        ] {
            let tree = |shapes: &str| format!("<p:spTree>{}{shapes}{}</p:spTree>", shape("1", "2"), shape("3", "4"));
            assert_eq!(stated(&tree(&part), None), Some(tree(&expected)), "{part}");
        }
    }

    #[test]
    fn other_places_stay() {
        for part in [
            shape("1", "2"),
            format!("<p:grpSp><p:grpSpPr/>{}</p:grpSp>", shape("1", "2")),
            group(["5", "10", "5", "10"], &shape("1", "2")),
            format!(
                "<p:spTree><p:grpSpPr><a:xfrm><a:off x='1' y='1'/></a:xfrm></p:grpSpPr>{}</p:spTree>",
                shape("1", "2")
            ),
            // The preview of an embedded object.
            group(
                ["5", "10", "0", "10"],
                "<p:graphicFrame><p:pic><p:spPr><a:xfrm><a:off/></a:xfrm></p:spPr></p:pic></p:graphicFrame>",
            ),
            "<p:sp><p:nvPr><p:ph idx='1'/></p:nvPr><p:spPr/></p:sp>".to_owned(),
            group(["5", "10", "0", "10"], &shape("1", "2")) + "<",
        ] {
            assert_eq!(stated(&part, None), None, "{part}");
        }
    }
}
