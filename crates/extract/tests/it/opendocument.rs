//! Numbers, notes and raised text of OpenDocument files.

use crate::documents::read;
use crate::files::{opendocument, opendocument_with};

const STYLES: &str = r#"<style:style style:name="Up"><style:text-properties style:text-position="super 58%"/></style:style><style:style style:name="Raised"><style:text-properties style:text-position="33% 58%"/></style:style><style:style style:name="Down"><style:text-properties style:text-position="sub 58%"/></style:style><text:list-style style:name="N"><text:list-level-style-number text:level="1" style:num-format="1" style:num-suffix="."/><text:list-level-style-number text:level="2" style:num-format="a" style:num-suffix=")"/></text:list-style><text:list-style style:name="R"><text:list-level-style-number text:level="1" style:num-format="I" style:num-suffix="." text:start-value="4"/></text:list-style><text:list-style style:name="D"><text:list-level-style-number text:level="1" style:num-format="1"/><text:list-level-style-number text:level="2" style:num-format="1" text:display-levels="2"/></text:list-style>"#;

fn markdown(body: &str) -> String {
    read("a.odt", &opendocument("text", STYLES, body)).expect("a document").markdown
}

fn list(attributes: &str, items: &[&str]) -> String {
    let items: String = items.iter().map(|item| format!("<text:list-item>{item}</text:list-item>")).collect();
    format!("<text:list {attributes}>{items}</text:list>")
}

#[test]
fn items_have_the_numbers_of_the_document() {
    let gap = "<text:p>gap</text:p>";
    let nested = format!("<text:p>new</text:p>{}", list("", &["<text:p>letter</text:p>"]));
    let clauses = format!("<text:p>top</text:p>{}", list("", &["<text:p>clause</text:p>", "<text:p>next</text:p>"]));
    let body = [
        list(r#"xml:id="l1" text:style-name="N""#, &["<text:p>one</text:p>", "<text:p/>"]),
        gap.to_owned(),
        list(r#"text:continue-numbering="true" text:style-name="N""#, &["<text:p>three</text:p>"]),
        gap.to_owned(),
        list(r#"text:continue-list="l1" text:style-name="N""#, &["<text:p>four</text:p>"]),
        r#"<text:list text:style-name="N"><text:list-item text:start-value="10"><text:p>ten</text:p></text:list-item><text:list-header><text:p>header</text:p></text:list-header></text:list>"#.to_owned(),
        list(r#"text:style-name="N""#, &[&nested, "<text:p>after</text:p>"]),
        list(r#"text:style-name="R""#, &["<text:p>roman</text:p>"]),
        list(r#"text:style-name="D""#, &[&clauses]),
    ];
    assert_eq!(
        markdown(&body.concat()),
        "1. one\n\ngap\n\n3. three\n\ngap\n\n4. four\n10. ten\n\nheader\n\n1. new\n    - a) letter\n2. after\n- IV. roman\n1. top\n    - 1.1 clause\n    - 1.2 next\n"
    );
}

#[test]
fn headings_have_the_numbers_of_the_outline() {
    let levels = r#"<style:style style:name="Plain" style:list-style-name=""/><text:outline-style><text:outline-level-style text:level="1" style:num-format="1"/><text:outline-level-style text:level="2" style:num-format="1" text:display-levels="2" style:num-suffix="."/><text:outline-level-style text:level="3" style:num-format=""/></text:outline-style>"#;
    let heading = |level: u8, attributes: &str, text: &str| {
        format!(r#"<text:h text:outline-level="{level}" {attributes}>{text}</text:h>"#)
    };
    let body = [
        heading(1, "", "Scope"),
        heading(2, "", "Pumps"),
        heading(2, "", ""),
        heading(2, "", "Valves"),
        heading(3, "", "Details"),
        heading(1, r#"text:style-name="Plain""#, "Preface"),
        heading(1, r#"text:is-list-header="true""#, "Note"),
        heading(1, r#"text:restart-numbering="true" text:start-value="7""#, "Liability"),
        heading(2, "", "<text:number>7.1 </text:number>Limits"),
        heading(11, "", "Deep"),
        format!(
            "<table:table><table:table-row><table:table-cell>{}</table:table-cell></table:table-row></table:table>",
            heading(1, "", "Annex")
        ),
    ];
    let written = |styles: &str, body: &str| {
        let file = opendocument("text", styles, body);
        read("a.odt", &file).expect("a document").markdown
    };
    assert_eq!(
        written(levels, &body.concat()),
        "# 1 Scope\n\n## 1.1. Pumps\n\n## 1.3. Valves\n\n### Details\n\n# Preface\n\n# Note\n\n# 7 Liability\n\n## 7.1 Limits\n\n###### Deep\n\n| 8 Annex |\n| --- |\n"
    );
    // A level that is left out is the first.
    let body = [heading(2, "", "Preface"), heading(1, "", "Scope")].concat();
    assert_eq!(written(levels, &body), "## 1.1. Preface\n\n# 2 Scope\n");
    assert_eq!(written("", &body), "## Preface\n\n# Scope\n");
}

#[test]
fn headings_in_lists_keep_their_numbers() {
    let heading = |level: u8, text: &str| format!(r#"<text:h text:outline-level="{level}">{text}</text:h>"#);
    let gap = "<text:p>gap</text:p>";
    let continued = |item: &str| list(r#"text:continue-numbering="true" text:style-name="D""#, &[item]);
    let body = [
        list(r#"text:style-name="D""#, &[&(heading(1, "Scope") + &list("", &[&heading(2, "Pumps")]))]),
        gap.to_owned(),
        continued(&list("", &[&heading(2, "Valves")])),
        gap.to_owned(),
        continued(&heading(1, "Liability")),
        gap.to_owned(),
        continued(&list("", &[&heading(2, "Limits")])),
    ];
    assert_eq!(
        markdown(&body.concat()),
        "# 1. Scope\n\n## 1.1 Pumps\n\ngap\n\n## 1.2 Valves\n\ngap\n\n# 2. Liability\n\ngap\n\n## 2.1 Limits\n"
    );
}

#[test]
fn lists_in_cells_keep_their_numbers() {
    let cell = list(r#"text:style-name="N""#, &["<text:p>alpha</text:p>", "<text:p>beta</text:p>"]);
    let body = format!(
        "<table:table><table:table-row><table:table-cell>{cell}</table:table-cell><table:table-cell><text:p>right</text:p></table:table-cell></table:table-row></table:table>"
    );
    assert_eq!(markdown(&body), "| 1. alpha<br>2. beta | right |\n| --- | --- |\n");
    // The cells of a table in an item are no items.
    let body = list(r#"text:style-name="N""#, &[&format!("<text:p>item</text:p>{body}")]);
    assert!(markdown(&body).starts_with("1. item\n\n| 1. alpha<br>2. beta | right |"), "{}", markdown(&body));
}

#[test]
fn exponents_are_no_part_of_their_number() {
    let span = |style: &str, text: &str| format!(r#"<text:span text:style-name="{style}">{text}</text:span>"#);
    let body = format!(
        "<text:p>10{} cells, 5 m{}, 10{}, H{}O, 1{}</text:p>",
        span("Up", "6"),
        span("Raised", "2"),
        span("Down", "2"),
        span("Down", "2"),
        span("Up", "st")
    );
    assert_eq!(markdown(&body), "10<sup>6</sup> cells, 5 m<sup>2</sup>, 10<sub>2</sub>, H2O, 1st\n");
}

#[test]
fn a_note_of_several_paragraphs_is_one_note() {
    let note = |text: &str| format!("<text:note><text:note-body>{text}</text:note-body></text:note>");
    let body = format!(
        "<text:p>First{} and{}</text:p>",
        note("<text:p>One.</text:p><text:p>More.</text:p>"),
        note("<text:p>Two.</text:p>")
    );
    assert_eq!(markdown(&body), "First[^1] and[^2]\n\n[^1]: One. More.\n\n[^2]: Two.\n");
}

#[test]
fn formulas_in_objects_are_read() {
    let object = |name: &str| {
        format!(
            r#"<draw:frame><draw:object xlink:href="./{name}"/><draw:image xlink:href="./Replacements/{name}"/></draw:frame>"#
        )
    };
    let body = format!(
        "<text:p>Energy {} of a <text:span>mass</text:span></text:p>{}{}{}",
        object("Object 1"),
        object("Object 1"),
        object("Object 2"),
        object("Object 3")
    );
    let formula = "<math><mi>E</mi><mo>=</mo><msup><mi>c</mi><mn>2</mn></msup></math>";
    let chart = "<office:document-content><text:p>chart</text:p></office:document-content>";
    let parts = [("Object 1/content.xml", formula), ("Object 2/content.xml", chart)];
    let read = read("a.odt", &opendocument_with("text", "", &body, &parts)).expect("a document");
    assert_eq!(read.markdown, "Energy E=c^2 of a mass\n\nE=c^2\n");
}

#[test]
fn cells_without_text_show_their_values() {
    let cells = r#"<table:table-cell office:value-type="date" office:date-value="2024-03-01"/><table:table-cell office:value-type="boolean" office:boolean-value="false"/><table:table-cell office:value-type="float" office:value="7"><text:p>7 EUR</text:p></table:table-cell>"#;
    let body = format!(r#"<table:table table:name="S"><table:table-row>{cells}</table:table-row></table:table>"#);
    let read = read("a.ods", &opendocument("spreadsheet", "", &body)).expect("a sheet");
    assert_eq!(read.markdown, "## Sheet: S\n\n| 2024-03-01 | FALSE | 7 EUR |\n| --- | --- | --- |\n");
}

#[test]
fn text_below_merged_cells_of_sheets_is_left_out() {
    let body = r#"<table:table table:name="S"><table:table-row><table:table-cell table:number-columns-spanned="2"><text:p>merged</text:p></table:table-cell><table:covered-table-cell office:value="7"><text:p>covered</text:p></table:covered-table-cell><table:table-cell><text:p>third</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"#;
    let read = read("a.ods", &opendocument("spreadsheet", "", body)).expect("a sheet");
    assert_eq!(read.markdown, "## Sheet: S\n\n| merged | | third |\n| --- | --- | --- |\n| a | b |\n");
}
