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
