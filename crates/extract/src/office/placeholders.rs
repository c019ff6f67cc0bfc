//! Places of the placeholders on slides, which are those on the layout or the master unless a slide states others
//! (ECMA-376 part 1, 19.3.1.36).

use std::collections::{HashMap, HashSet};
use std::io::Cursor;

use office_oxide::core::opc::OpcReader;
use office_oxide::pptx::{PlaceholderInfo, PptxDocument, Shape, ShapePosition, Slide};

/// Layouts of the slides that need them to put their shapes into order.
#[derive(Debug, Default)]
pub(super) struct Layouts {
    /// Index of the layout of a slide, if it has one, by the name of the slide's part.
    slides: HashMap<String, Option<usize>>,
    layouts: Vec<Layout>,
}

impl Layouts {
    /// Returns the layouts of a presentation. `bytes` are those of its file.
    pub(super) fn of(presentation: &PptxDocument, bytes: &[u8]) -> Self {
        if !presentation.slides.iter().any(needs_places) {
            return Self::default();
        }
        let names = slide_parts(presentation, bytes).unwrap_or_default();
        let slides = names.into_iter().zip(&presentation.slides).filter(|(_, slide)| needs_places(slide));
        let masters: Vec<Layout> = presentation.masters.iter().map(|master| Layout::of(&master.shapes, None)).collect();
        let layouts = presentation.layouts.iter().map(|layout| {
            let master = layout.master_index.and_then(|at| masters.get(at));
            Layout::of(&layout.shapes, master)
        });
        Self {
            slides: slides.filter_map(|(name, slide)| Some((name?, slide.layout_index))).collect(),
            layouts: layouts.collect(),
        }
    }

    /// Returns the layout, if it has one, of a slide that needs places. Returns `None` for other parts.
    pub(super) fn of_slide(&self, part: &str) -> Option<Option<&Layout>> {
        let layout = self.slides.get(part)?;
        Some(layout.and_then(|at| self.layouts.get(at)))
    }
}

/// Places of the placeholders of a layout or master.
#[derive(Debug, Default)]
pub(super) struct Layout {
    by_index: HashMap<u32, ShapePosition>,
    by_kind: HashMap<&'static str, ShapePosition>,
}

impl Layout {
    fn of(shapes: &[Shape], master: Option<&Layout>) -> Self {
        let mut layout = Self::default();
        for shape in shapes {
            let Shape::AutoShape(shape) = shape else { continue };
            let Some(PlaceholderInfo { ph_type, idx }) = &shape.placeholder else { continue };
            let kind = kind_of(ph_type.as_deref());
            let inherited = || master.and_then(|master| master.by_kind.get(kind));
            let Some(place) = shape.position.as_ref().or_else(inherited) else { continue };
            if let Some(index) = idx {
                layout.by_index.entry(*index).or_insert_with(|| place.clone());
            }
            layout.by_kind.entry(kind).or_insert_with(|| place.clone());
        }
        for (kind, place) in master.iter().flat_map(|master| &master.by_kind) {
            layout.by_kind.entry(*kind).or_insert_with(|| place.clone());
        }
        layout
    }

    /// Returns the place of a placeholder on a slide: that of the same index, otherwise the first of the same kind.
    pub(super) fn place(&self, kind: Option<&str>, index: Option<u32>) -> Option<&ShapePosition> {
        let same = index.and_then(|index| self.by_index.get(&index));
        same.or_else(|| self.by_kind.get(kind_of(kind)))
    }
}

/// Returns the kind of a placeholder on a master. Everything that is not named there is body.
fn kind_of(name: Option<&str>) -> &'static str {
    match name {
        Some("title" | "ctrTitle") => "title",
        Some("dt") => "dt",
        Some("ftr") => "ftr",
        Some("sldNum") => "sldNum",
        Some("hdr") => "hdr",
        _ => "body",
    }
}

/// Returns true for a slide with groups, or with shapes of which only some state their places. The library puts those
/// without a place behind the others, and takes places in a group for places on the slide.
fn needs_places(slide: &Slide) -> bool {
    let mut places = slide.shapes.iter().filter_map(|shape| match shape {
        // The title is read first wherever it stands.
        Shape::AutoShape(shape) if shape.placeholder.as_ref().is_some_and(is_title) => None,
        Shape::AutoShape(shape) => Some(shape.position.is_some()),
        Shape::Picture(picture) => Some(picture.position.is_some()),
        Shape::GraphicFrame(frame) => Some(frame.position.is_some()),
        Shape::Group(_) | Shape::Connector(_) => None,
    });
    let first = places.next();
    places.any(|is_placed| Some(is_placed) != first)
        || slide.shapes.iter().any(|shape| matches!(shape, Shape::Group(_)))
}

fn is_title(placeholder: &PlaceholderInfo) -> bool {
    kind_of(placeholder.ph_type.as_deref()) == "title"
}

/// Returns the names of the parts of the slides in the order of the library, which reads each part once.
fn slide_parts(presentation: &PptxDocument, bytes: &[u8]) -> Option<Vec<Option<String>>> {
    let mut package = OpcReader::new(Cursor::new(bytes)).ok()?;
    let document = package.main_document_part().ok()?;
    let relations = package.read_rels_for(&document).ok()?;
    let mut seen = HashSet::new();
    let mut names = Vec::new();
    for slide in &presentation.presentation.slides {
        let name = relations.resolve_target(&slide.rel_id, &document).ok().map(|name| name.as_str().to_owned());
        if name.as_ref().is_none_or(|name| seen.insert(name.clone())) {
            names.push(name);
        }
    }
    Some(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use office_oxide::pptx::AutoShape;

    /// Builds a placeholder of a kind and with an index, at a height.
    fn shape(kind: Option<&str>, idx: Option<u32>, y: Option<i64>) -> Shape {
        Shape::AutoShape(AutoShape {
            id: 0,
            name: String::new(),
            alt_text: None,
            position: y.map(|y| ShapePosition { x: 0, y, cx: 1, cy: 1 }),
            text_body: None,
            placeholder: Some(PlaceholderInfo { ph_type: kind.map(str::to_owned), idx }),
            hyperlink: None,
        })
    }

    #[test]
    fn places_are_those_of_the_layout_and_its_master() {
        let master = [shape(Some("title"), None, Some(1)), shape(Some("body"), Some(1), Some(2))];
        let layout = [
            shape(Some("ctrTitle"), None, None),
            shape(None, Some(1), None),
            shape(Some("pic"), Some(13), Some(3)),
            shape(Some("ftr"), Some(11), Some(4)),
        ];
        let layout = Layout::of(&layout, Some(&Layout::of(&master, None)));
        for (kind, index, y) in [
            (Some("title"), None, Some(1)),
            (None, Some(1), Some(2)),
            (Some("body"), Some(13), Some(3)),
            (Some("ftr"), Some(7), Some(4)),
            (Some("tbl"), None, Some(2)),
            (Some("dt"), Some(10), None),
        ] {
            assert_eq!(layout.place(kind, index).map(|place| place.y), y, "{kind:?} {index:?}");
        }
    }

    #[test]
    fn slides_with_some_places_need_the_others() {
        let slide = |shapes: &[Shape]| Slide { shapes: shapes.to_vec(), ..Slide::default() };
        let [title, body, placed] = [(Some("title"), None), (None, None), (None, Some(1))];
        let [title, body, placed] = [title, body, placed].map(|(kind, y)| shape(kind, None, y));
        for (shapes, needed) in [
            (vec![title.clone(), body.clone(), body.clone()], false),
            (vec![title.clone(), placed.clone()], false),
            (vec![title, body, placed], true),
            (vec![], false),
        ] {
            assert_eq!(needs_places(&slide(&shapes)), needed);
        }
    }
}
