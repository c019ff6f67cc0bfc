//! Values of PDF forms are read beside their labels.

use extract::ExtractErrorKind;

use crate::documents::read;
use crate::files::pdf_of;

/// Builds a form of one page. `labels`: text and position. `fields`: rectangle and entries of a widget; more objects may follow.
fn form(labels: &[(&str, i32, i32)], widgets: &[(&str, &str)], others: &[&str]) -> Vec<u8> {
    let references: Vec<String> = (0..widgets.len()).map(|number| format!("{} 0 R", 7 + number)).collect();
    let references = references.join(" ");
    let content: String =
        labels.iter().map(|(text, x, y)| format!("BT /F1 10 Tf {x} {y} Td ({text}) Tj ET\n")).collect();
    let mut objects = vec![
        format!("<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{references}] >> >>"),
        "<< /Type /Pages /Kids [5 0 R] /Count 1 >>".into(),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".into(),
        "<< /Title (Application) >>".into(),
        format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents 6 0 R /Annots [{references}] >>"
        ),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
    ];
    objects.extend(
        widgets.iter().map(|(area, entries)| format!("<< /Type /Annot /Subtype /Widget /Rect [{area}] {entries} >>")),
    );
    objects.extend(others.iter().map(ToString::to_string));
    pdf_of(&objects)
}

fn markdown(file: &[u8]) -> String {
    read("form.pdf", file).expect("a form").markdown
}

#[test]
fn values_follow_their_labels() {
    let file = form(
        &[("Name:", 72, 700), ("Town:", 72, 650), ("The office fills in the rest.", 72, 600)],
        &[
            ("110 696 300 712", "/FT /Tx /T (name) /V (Anna Berg)"),
            ("110 646 300 662", "/FT /Tx /T (town) /V <FEFF004D00FC006E0073007400650072>"),
            ("72 500 300 560", "/FT /Tx /Ff 4096 /V (First line\\rSecond line)"),
            ("72 400 300 416", "/FT /Tx /V ()"),
        ],
        &[],
    );
    assert_eq!(
        markdown(&file),
        "Name: Anna Berg\n\nTown: Münster\n\nThe office fills in the rest.\n\nFirst line\n\nSecond line\n"
    );
}

#[test]
fn a_form_of_fields_only_has_text() {
    let file = form(&[], &[("72 696 300 712", "/FT /Tx /V (Anna Berg)")], &[]);
    assert_eq!(markdown(&file), "Anna Berg\n");
    let boxes = form(&[], &[("72 696 84 708", "/FT /Btn /AS /On")], &[]);
    assert_eq!(read("scan.pdf", &boxes).expect_err("no text").kind, ExtractErrorKind::NeedsOcr);
}

#[test]
fn choices_and_boxes_show_their_state() {
    let file = form(
        &[("Country:", 72, 700), ("Member", 90, 650), ("Guest", 190, 650), ("Paid", 90, 600)],
        &[
            ("120 696 300 712", "/FT /Ch /Opt [[(DE) (Germany)] [(FR) (France)]] /V (FR)"),
            ("72 648 84 660", "/Parent 12 0 R /AS /member"),
            ("172 648 184 660", "/Parent 12 0 R /AS /Off"),
            ("72 598 84 610", "/FT /Btn /V /Yes"),
            ("300 598 380 610", "/FT /Btn /Ff 65536 /MK << /CA (Send) >>"),
        ],
        &["<< /FT /Btn /Ff 32768 /T (kind) /V /member >>"],
    );
    assert_eq!(markdown(&file), "Country: France\n\n☒ Member ☐ Guest\n\n☒ Paid\n");
}

#[test]
fn hidden_fields_and_passwords_are_not_text() {
    let file = form(
        &[("Visible", 72, 700)],
        &[
            ("110 696 300 712", "/FT /Tx /F 2 /V (hidden)"),
            ("110 646 300 662", "/FT /Tx /F 32 /V (unseen)"),
            ("110 596 300 612", "/FT /Tx /Ff 8192 /V (secret)"),
            ("110 546 110 546", "/FT /Tx /V (flat)"),
            ("-300 546 -110 566", "/FT /Tx /V (beside)"),
            ("110 496 300 512", "/Parent 9 0 R"),
            ("110 446 300 462", "/Parent 13 0 R"),
        ],
        &[],
    );
    assert_eq!(markdown(&file), "Visible\n");
}

/// Values without a byte order mark have the encoding of PDF, which is not windows-1252.
#[test]
fn values_are_decoded_as_pdf_doc_encoding() {
    let file = form(
        &[("Price:", 72, 700), ("Note:", 72, 650)],
        &[
            ("110 696 300 712", "/FT /Tx /V (100 \\240)"),
            ("110 646 300 662", "/FT /Tx /V (it\\220s \\215quoted\\216 \\222)"),
        ],
        &[],
    );
    let read = markdown(&file);
    assert!(read.contains("100 €") && read.contains("it’s “quoted” ™"), "{read}");
}
