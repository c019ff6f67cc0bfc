//! Slides of PowerPoint presentations: formulas and the order of shapes.

use crate::documents::read;
use crate::files::pptx;

/// Builds a shape with a text of one paragraph. `placeholder` is its `p:ph`, `place` its `a:xfrm`.
fn shape(placeholder: &str, place: &str, text: &str) -> String {
    format!(
        r#"<p:sp><p:nvSpPr><p:cNvPr id="2" name="s"/><p:cNvSpPr/><p:nvPr>{placeholder}</p:nvPr></p:nvSpPr><p:spPr>{place}</p:spPr><p:txBody><a:bodyPr/><a:p>{text}</a:p></p:txBody></p:sp>"#
    )
}

fn run(text: &str) -> String {
    format!("<a:r><a:t>{text}</a:t></a:r>")
}

fn place(x: u32, y: u32) -> String {
    format!(r#"<a:xfrm><a:off x="{x}" y="{y}"/><a:ext cx="300" cy="100"/></a:xfrm>"#)
}

/// Placeholders stand where the layout or its master puts them, and shapes in a group where the group is.
#[test]
fn shapes_are_read_from_top_to_bottom() {
    let [title, body, footer] = [r#"<p:ph type="title"/>"#, r#"<p:ph idx="1"/>"#, r#"<p:ph type="ftr" idx="11"/>"#];
    let prompt = |placeholder: &str, y: Option<u32>| {
        shape(placeholder, &y.map(|y| place(0, y)).unwrap_or_default(), &run("Click to edit"))
    };
    let layout = prompt(title, Some(0)) + &prompt(body, Some(500)) + &prompt(footer, None);
    let master = prompt(footer, Some(900));
    let slide = [
        shape(title, "", &run("Exports grew")),
        shape(footer, "", &run("Example Inc.")),
        shape(body, "", &run("Exports rose by 4%")),
        shape("", &place(0, 800), &run("Source: Eurostat")),
        r#"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr><a:xfrm><a:off x="0" y="700"/><a:ext cx="10" cy="10"/><a:chOff x="0" y="0"/><a:chExt cx="1000" cy="1000"/></a:xfrm></p:grpSpPr>"#.to_owned(),
        shape("", &place(0, 900), &run("below")),
        shape("", &place(0, 100), &run("In the group")),
        "</p:grpSp>".to_owned(),
    ];
    assert_eq!(
        read("a.pptx", &pptx(&[&slide.concat()], &layout, &master)).expect("slides").markdown,
        "## Slide 1: Exports grew\n\nExports rose by 4%\n\nIn the group\n\nbelow\n\nSource: Eurostat\n\nExample Inc.\n"
    );
}

#[test]
fn formulas_of_slides_keep_their_structure() {
    let argument = |name: &str, text: &str| format!("<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>");
    let math = |formula: &str| format!("<a14:m><m:oMath>{formula}</m:oMath></a14:m>");
    let power = math(&format!("<m:sSup>{}{}</m:sSup>", argument("e", "10"), argument("sup", "6")));
    let half = math(&format!("<m:f>{}{}</m:f>", argument("num", "1"), argument("den", "2")));
    let alternatives = |choice: &str, fallback: &str| {
        format!(
            r#"<mc:AlternateContent><mc:Choice Requires="a14">{choice}</mc:Choice><mc:Fallback>{fallback}</mc:Fallback></mc:AlternateContent>"#
        )
    };
    let title = shape(r#"<p:ph type="title"/>"#, "", &run("Constants"));
    let body = [run("Lifetime "), alternatives(&power, &run("picture")), run(" hours, duty "), half.clone()].concat();
    let first = title + &shape(r#"<p:ph idx="1"/>"#, "", &body);
    let second = alternatives(&shape("", "", &(run("Only ") + &half)), &shape("", "", &run("picture")));
    assert_eq!(
        read("a.pptx", &pptx(&[&first, &second], "", "")).expect("slides").markdown,
        "## Slide 1: Constants\n\nLifetime 10^6 hours, duty 1/2\n\n## Slide 2\n\nOnly 1/2\n"
    );
}
