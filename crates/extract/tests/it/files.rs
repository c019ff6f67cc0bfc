//! Minimal files of each type.

use std::io::Write;

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// Builds a zip archive of the given parts.
pub fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

const DOCX_TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.styles+xml"/><Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/></Types>"#;
const DOCX_RELS: &str = r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/package/2006/relationships/metadata/core-properties" Target="docProps/core.xml"/></Relationships>"#;
const DOCX_PART_RELS: &str = r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/><Relationship Id="r2" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes" Target="footnotes.xml"/><Relationship Id="r3" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/endnotes" Target="endnotes.xml"/><Relationship Id="r4" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/footer" Target="footer.xml"/><Relationship Id="r5" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/></Relationships>"#;
const DOCX_STYLES: &str = r#"<?xml version="1.0" encoding="UTF-8"?><w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style></w:styles>"#;
const DOCX_CORE: &str = r#"<?xml version="1.0" encoding="UTF-8"?><cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"></cp:coreProperties>"#;
const DOCX_PROPERTIES: &str = r#"<dc:title>Quarterly Review</dc:title><dc:creator>Ann Author</dc:creator><dcterms:created xsi:type="dcterms:W3CDTF">2024-03-01T00:00:00Z</dcterms:created>"#;

/// Builds a Word document with the given `w:body` content.
pub fn docx(body: &str) -> Vec<u8> {
    docx_with_notes(body, "", "")
}

/// Builds a Word document with the given `w:body`, `w:footnotes` and `w:endnotes` content.
pub fn docx_with_notes(body: &str, footnotes: &str, endnotes: &str) -> Vec<u8> {
    docx_of(
        body,
        "",
        DOCX_PROPERTIES,
        [("footnotes", footnotes), ("endnotes", endnotes), ("ftr", ""), ("numbering", "")],
    )
}

/// Builds a Word document with the given `w:body` and `w:numbering` content, and with further styles.
pub fn docx_with_numbering(body: &str, styles: &str, numbering: &str) -> Vec<u8> {
    docx_of(body, styles, DOCX_PROPERTIES, [("footnotes", ""), ("endnotes", ""), ("ftr", ""), ("numbering", numbering)])
}

/// Builds a Word document with the given `w:body` content and the paragraphs of its footer.
pub fn docx_with_footer(body: &str, footer: &str) -> Vec<u8> {
    let section = r#"<w:sectPr><w:footerReference w:type="default" r:id="r4"/></w:sectPr>"#;
    let parts = [("footnotes", ""), ("endnotes", ""), ("ftr", footer), ("numbering", "")];
    docx_of(&format!("{body}{section}"), "", DOCX_PROPERTIES, parts)
}

/// Builds a Word document with the given `w:body` and `cp:coreProperties` content, and with further styles.
pub fn docx_with_properties(body: &str, styles: &str, properties: &str) -> Vec<u8> {
    docx_of(body, styles, properties, [("footnotes", ""), ("endnotes", ""), ("ftr", ""), ("numbering", "")])
}

/// Builds a Word document from its body, from further styles, from its properties, and from the names and the content of its
/// footnotes, endnotes, footer and numbering.
fn docx_of(body: &str, styles: &str, properties: &str, parts: [(&str, &str); 4]) -> Vec<u8> {
    const NAMES: &str = r#"xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships""#;
    let part = |root: &str, content: &str| {
        format!(r#"<?xml version="1.0" encoding="UTF-8"?><w:{root} {NAMES}>{content}</w:{root}>"#)
    };
    let document = part("document", &format!("<w:body>{body}</w:body>"));
    let [footnotes, endnotes, footer, numbering] = parts.map(|(root, content)| part(root, content));
    let styles = DOCX_STYLES.replace("</w:styles>", &format!("{styles}</w:styles>"));
    let core = DOCX_CORE.replace("</cp:coreProperties>", &format!("{properties}</cp:coreProperties>"));
    archive(&[
        ("[Content_Types].xml", DOCX_TYPES),
        ("_rels/.rels", DOCX_RELS),
        ("word/document.xml", &document),
        ("word/_rels/document.xml.rels", DOCX_PART_RELS),
        ("word/styles.xml", &styles),
        ("word/numbering.xml", &numbering),
        ("word/footnotes.xml", &footnotes),
        ("word/endnotes.xml", &endnotes),
        ("word/footer.xml", &footer),
        ("docProps/core.xml", &core),
    ])
}

pub fn paragraph(style: Option<&str>, text: &str) -> String {
    let style = style.map(|style| format!(r#"<w:pPr><w:pStyle w:val="{style}"/></w:pPr>"#)).unwrap_or_default();
    format!("<w:p>{style}<w:r><w:t xml:space=\"preserve\">{text}</w:t></w:r></w:p>")
}

/// Builds a PDF with one page per text; an empty text gives a page without text.
pub fn pdf(pages: &[&str]) -> Vec<u8> {
    let mut objects: Vec<String> = Vec::new();
    let kids: Vec<String> = (0..pages.len()).map(|page| format!("{} 0 R", 5 + page * 2)).collect();
    objects.push("<< /Type /Catalog /Pages 2 0 R >>".into());
    objects.push(format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), pages.len()));
    objects.push("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".into());
    objects.push("<< /Title (Field Notes) /Author (Bob) /CreationDate (D:20240301000000Z) >>".into());
    for (page, text) in pages.iter().enumerate() {
        let lines: Vec<String> = text.lines().map(|line| format!("({line}) Tj 0 -16 Td")).collect();
        let content = if text.is_empty() {
            "0 0 10 10 re f".into()
        } else {
            format!("BT /F1 12 Tf 72 720 Td {} ET", lines.join(" "))
        };
        objects.push(format!(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents {} 0 R >>",
            6 + page * 2
        ));
        objects.push(format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()));
    }
    pdf_of(&objects)
}

/// Builds a PDF file from its objects: the first is the catalog, the fourth the document information.
pub fn pdf_of(objects: &[String]) -> Vec<u8> {
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut offsets = Vec::new();
    for (number, object) in (1..).zip(objects) {
        offsets.push(file.len());
        file.extend(format!("{number} 0 obj\n{object}\nendobj\n").bytes());
    }
    let start = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).bytes());
    for offset in offsets {
        file.extend(format!("{offset:010} 00000 n \n").bytes());
    }
    let size = objects.len() + 1;
    file.extend(format!("trailer\n<< /Size {size} /Root 1 0 R /Info 4 0 R >>\nstartxref\n{start}\n%%EOF\n").bytes());
    file
}

const ODF: &str = r#"xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:presentation="urn:oasis:names:tc:opendocument:xmlns:presentation:1.0" xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:meta="urn:oasis:names:tc:opendocument:xmlns:meta:1.0""#;

/// Builds an OpenDocument file of a kind (`text`, `presentation`, `spreadsheet`) from automatic styles and a body.
pub fn opendocument(kind: &str, styles: &str, body: &str) -> Vec<u8> {
    opendocument_with(kind, styles, body, &[])
}

/// Builds an OpenDocument file with further parts.
pub fn opendocument_with(kind: &str, styles: &str, body: &str, parts: &[(&str, &str)]) -> Vec<u8> {
    let content = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><office:document-content {ODF}><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:{kind}>{body}</office:{kind}></office:body></office:document-content>"#
    );
    let meta = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><office:document-meta {ODF}><office:meta><dc:title>Open &amp; free</dc:title><meta:initial-creator>Ann</meta:initial-creator><meta:creation-date>2024-03-01T00:00:00</meta:creation-date></office:meta></office:document-meta>"#
    );
    let media_type = format!("application/vnd.oasis.opendocument.{kind}");
    let own: [(&str, &str); 4] = [
        ("mimetype", &media_type),
        ("content.xml", &content),
        ("meta.xml", &meta),
        ("META-INF/manifest.xml", "<manifest/>"),
    ];
    archive(&[own.as_slice(), parts].concat())
}

/// Builds a workbook from sheet names and rows of text cells.
pub fn xlsx(sheets: &[(&str, &[&[&str]])]) -> Vec<u8> {
    let sheets: Vec<(&str, String)> = sheets
        .iter()
        .map(|(name, rows)| {
            let rows = (1..).zip(*rows).map(|(row, cells)| {
                let cells: String = ('A'..)
                    .zip(*cells)
                    .map(|(column, cell)| format!(r#"<c r="{column}{row}" t="inlineStr"><is><t>{cell}</t></is></c>"#))
                    .collect();
                format!(r#"<row r="{row}">{cells}</row>"#)
            });
            (*name, format!("<sheetData>{}</sheetData>", rows.collect::<String>()))
        })
        .collect();
    workbook(&sheets, "")
}

/// Builds a workbook from sheet names with the content of their `worksheet` elements, and that of the `styleSheet`.
pub fn workbook(sheets: &[(&str, String)], styles: &str) -> Vec<u8> {
    let mut types = String::from(
        r#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>"#,
    );
    let (mut names, mut relations, mut parts) = (String::new(), String::new(), Vec::new());
    for (number, (name, content)) in (1..).zip(sheets) {
        types.push_str(&format!(r#"<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>"#));
        names.push_str(&format!(r#"<sheet name="{name}" sheetId="{number}" r:id="rId{number}"/>"#));
        relations.push_str(&format!(r#"<Relationship Id="rId{number}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="worksheets/sheet{number}.xml"/>"#));
        parts.push((
            format!("xl/worksheets/sheet{number}.xml"),
            format!(r#"<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{content}</worksheet>"#),
        ));
    }
    if !styles.is_empty() {
        types.push_str(r#"<Override PartName="/xl/styles.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.styles+xml"/>"#);
        relations.push_str(r#"<Relationship Id="rIdS" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/styles" Target="styles.xml"/>"#);
        parts.push((
            "xl/styles.xml".into(),
            format!(r#"<?xml version="1.0" encoding="UTF-8"?><styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">{styles}</styleSheet>"#),
        ));
    }
    types.push_str("</Types>");
    let workbook = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets>{names}</sheets></workbook>"#
    );
    let relations = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>"#
    );
    let root = r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="xl/workbook.xml"/></Relationships>"#;
    let mut all: Vec<(&str, &str)> = vec![
        ("[Content_Types].xml", &types),
        ("_rels/.rels", root),
        ("xl/workbook.xml", &workbook),
        ("xl/_rels/workbook.xml.rels", &relations),
    ];
    all.extend(parts.iter().map(|(name, part)| (name.as_str(), part.as_str())));
    archive(&all)
}

/// Builds a presentation from the shapes of each slide, and those of the layout and the master of all slides.
pub fn pptx(slides: &[&str], layout: &str, master: &str) -> Vec<u8> {
    const NAMES: &str = r#"xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main""#;
    const TYPES: &str = r#"<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/ppt/presentation.xml" ContentType="application/vnd.openxmlformats-officedocument.presentationml.presentation.main+xml"/></Types>"#;
    let part = |root: &str, shapes: &str| {
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?><p:{root} {NAMES}><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld></p:{root}>"#
        )
    };
    let relations = |of: &[(String, &str, String)]| {
        let all: String = of
            .iter()
            .map(|(id, kind, target)| {
                format!(r#"<Relationship Id="{id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>"#)
            })
            .collect();
        format!(
            r#"<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{all}</Relationships>"#
        )
    };
    let one = |kind: &'static str, target: &str| relations(&[("r1".to_owned(), kind, target.to_owned())]);
    let ids: String =
        (1..=slides.len()).map(|number| format!(r#"<p:sldId id="{}" r:id="s{number}"/>"#, 255 + number)).collect();
    let presentation = format!(
        r#"<?xml version="1.0" encoding="UTF-8"?><p:presentation {NAMES}><p:sldIdLst>{ids}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/></p:presentation>"#
    );
    let related: Vec<(String, &str, String)> =
        (1..=slides.len()).map(|number| (format!("s{number}"), "slide", format!("slides/slide{number}.xml"))).collect();
    let mut parts = vec![
        ("[Content_Types].xml".to_owned(), TYPES.to_owned()),
        ("_rels/.rels".to_owned(), one("officeDocument", "ppt/presentation.xml")),
        ("ppt/presentation.xml".to_owned(), presentation),
        ("ppt/_rels/presentation.xml.rels".to_owned(), relations(&related)),
        ("ppt/slideMasters/slideMaster1.xml".to_owned(), part("sldMaster", master)),
        ("ppt/slideLayouts/slideLayout1.xml".to_owned(), part("sldLayout", layout)),
        (
            "ppt/slideLayouts/_rels/slideLayout1.xml.rels".to_owned(),
            one("slideMaster", "../slideMasters/slideMaster1.xml"),
        ),
    ];
    for (number, shapes) in (1..).zip(slides) {
        parts.push((format!("ppt/slides/slide{number}.xml"), part("sld", shapes)));
        parts.push((
            format!("ppt/slides/_rels/slide{number}.xml.rels"),
            one("slideLayout", "../slideLayouts/slideLayout1.xml"),
        ));
    }
    let parts: Vec<(&str, &str)> = parts.iter().map(|(name, part)| (name.as_str(), part.as_str())).collect();
    archive(&parts)
}

pub const RTF: &[u8] = b"{\\rtf1\\ansi\\ansicpg1251{\\fonttbl{\\f0\\fcharset204 Arial;}}{\\info{\\title Plan}{\\author Ann}}\\pard\\outlinelevel0 Heading\\par\\pard\\f0 \\'cf\\'f0\\'e8\\'e2\\'e5\\'f2 {\\b bold}\\par\\trowd\\pard\\intbl a\\cell b\\cell\\row\\pard end\\par}";
