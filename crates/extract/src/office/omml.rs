//! Formulas of Office MathML (ECMA-376 part 1, 22.1) as one line of text.

use std::mem;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use crate::blocks::one_line;
use crate::formula::{self, Binding, Part};
use crate::xml;

/// Maximum number of nested elements whose structure is written; deeper ones are written as their glyphs. A structure in
/// another one takes two.
const MAX_DEPTH: usize = 64;

/// Reads up to the end tag of the open formula, and returns it as a line of text. Returns `None` for malformed XML.
pub(super) fn read(reader: &mut Reader<&[u8]>) -> Option<String> {
    let mut formula = Formula { open: vec![Element::default()], deeper: 0 };
    loop {
        match reader.read_event().ok()? {
            Event::Start(element) => match element.local_name().as_ref() {
                "t" => formula.push_text(&xml::text(reader)?),
                // Deleted text of tracked changes.
                "del" | "moveFrom" => {
                    xml::text(reader)?;
                }
                name => formula.start(name, &element),
            },
            Event::Empty(element) => formula.note(element.local_name().as_ref(), &element),
            Event::End(_) => {
                if let Some(part) = formula.end() {
                    return Some(one_line(&part.text));
                }
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Kind {
    /// Element without a structure of its own.
    #[default]
    Row,
    Run,
    Properties,
    Fraction,
    Numerator,
    Denominator,
    /// Base with a part below and above it.
    Scripts,
    /// Base behind a part below and above it.
    PreScripts,
    Base,
    Below,
    Above,
    Radical,
    Degree,
    Nary,
    Delimiters,
    Matrix,
    MatrixRow,
    Equations,
    Function,
    FunctionName,
    Accent,
    Bar,
    LowerLimit,
    UpperLimit,
    Limit,
    Phantom,
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "r" => Self::Run,
            "f" => Self::Fraction,
            "num" => Self::Numerator,
            "den" => Self::Denominator,
            "sSub" | "sSup" | "sSubSup" => Self::Scripts,
            "sPre" => Self::PreScripts,
            "e" => Self::Base,
            "sub" => Self::Below,
            "sup" => Self::Above,
            "rad" => Self::Radical,
            "deg" => Self::Degree,
            "nary" => Self::Nary,
            "d" => Self::Delimiters,
            "m" => Self::Matrix,
            "mr" => Self::MatrixRow,
            "eqArr" => Self::Equations,
            "func" => Self::Function,
            "fName" => Self::FunctionName,
            "acc" => Self::Accent,
            "bar" => Self::Bar,
            "limLow" => Self::LowerLimit,
            "limUpp" => Self::UpperLimit,
            "lim" => Self::Limit,
            "phant" => Self::Phantom,
            _ if name.ends_with("Pr") => Self::Properties,
            _ => Self::Row,
        }
    }
}

/// Properties of a structure or run. An empty sign is none; `None` is the default one.
#[derive(Debug, Default)]
struct Properties {
    sign: Option<String>,
    begin: Option<String>,
    separator: Option<String>,
    end: Option<String>,
    /// Fraction without a line.
    is_stack: bool,
    /// Bar over its base.
    is_over: bool,
    is_hidden: bool,
    /// Text in upright letters, which are a name and no product.
    is_upright: bool,
}

impl Properties {
    fn note(&mut self, name: &str, element: &BytesStart) {
        const OFF: [&str; 3] = ["0", "false", "off"];
        let value = || {
            let qualified = element.name();
            let qualified: &str = qualified.as_ref();
            let prefix = qualified.strip_suffix(name).unwrap_or_default();
            xml::attribute(element, &format!("{prefix}val"))
        };
        // A sign is one character.
        let sign = || value().map(|value| value.chars().take(1).collect::<String>());
        let is = |names: &[&str]| value().is_some_and(|value| names.contains(&value.as_str()));
        match name {
            "chr" => self.sign = sign(),
            "begChr" => self.begin = sign(),
            "sepChr" => self.separator = sign(),
            "endChr" => self.end = sign(),
            "type" => self.is_stack = is(&["noBar"]),
            "pos" => self.is_over = is(&["top"]),
            "show" => self.is_hidden = is(&OFF),
            "nor" => self.is_upright |= !is(&OFF),
            "sty" => self.is_upright |= is(&["p", "b"]),
            _ => {}
        }
    }

    /// Adds properties that are stated in these ones.
    fn add(&mut self, inner: Self) {
        self.sign = inner.sign.or(self.sign.take());
        self.begin = inner.begin.or(self.begin.take());
        self.separator = inner.separator.or(self.separator.take());
        self.end = inner.end.or(self.end.take());
        self.is_stack |= inner.is_stack;
        self.is_over |= inner.is_over;
        self.is_hidden |= inner.is_hidden;
        self.is_upright |= inner.is_upright;
    }
}

/// Open element.
#[derive(Debug, Default)]
struct Element {
    kind: Kind,
    properties: Properties,
    /// Written children, none of them empty.
    parts: Vec<(Kind, Part)>,
    /// Text behind them. Programs split numbers and names into any number of runs.
    text: String,
    is_text_upright: bool,
}

impl Element {
    fn push_text(&mut self, text: &str, is_upright: bool) {
        if text.is_empty() {
            return;
        }
        if self.is_text_upright != is_upright {
            self.end_text();
        }
        self.is_text_upright = is_upright;
        self.text.push_str(text);
    }

    fn end_text(&mut self) {
        if !self.text.is_empty() {
            self.parts.push((Kind::Row, leaf(&mem::take(&mut self.text), self.is_text_upright)));
        }
    }

    fn push(&mut self, child: Self) {
        match child.kind {
            Kind::Properties => self.properties.add(child.properties),
            Kind::Run if child.parts.is_empty() => self.push_text(&child.text, child.is_text_upright),
            kind => {
                self.end_text();
                let part = child.written();
                if !part.text.is_empty() {
                    self.parts.push((kind, part));
                }
            }
        }
    }

    /// Takes the first child of a kind.
    fn take(&mut self, kind: Kind) -> Part {
        let found = self.parts.iter_mut().find(|(found, _)| *found == kind);
        let part = found.map(|(_, part)| mem::take(part)).unwrap_or_default();
        Part::new(part.text.trim().to_owned(), part.binding)
    }

    /// Takes all children of a kind.
    fn take_all(&mut self, kind: Kind) -> Vec<Part> {
        let found = self.parts.iter_mut().filter(|(found, _)| *found == kind);
        found.map(|(_, part)| mem::take(part)).collect()
    }

    fn written(mut self) -> Part {
        self.end_text();
        let structure = match self.kind {
            Kind::Phantom if self.properties.is_hidden => return Part::default(),
            // A stack without a line, as of a binomial coefficient, is no quotient.
            Kind::Fraction if self.properties.is_stack => {
                formula::joined([self.take(Kind::Numerator), self.take(Kind::Denominator)], "; ")
            }
            Kind::Fraction => formula::quotient(self.take(Kind::Numerator), self.take(Kind::Denominator)),
            Kind::Scripts => formula::scripted(self.take(Kind::Base), [self.take_scripts()]),
            Kind::PreScripts => formula::prescripted(self.take(Kind::Base), [self.take_scripts()]),
            Kind::Radical => formula::root(self.take(Kind::Base), self.take(Kind::Degree)),
            Kind::Nary => {
                let sign = self.properties.sign.take().unwrap_or_else(|| "∫".to_owned());
                let sign = formula::scripted(Part::new(sign, Binding::Atom), [self.take_scripts()]);
                formula::row([sign, self.take(Kind::Base)])
            }
            Kind::Delimiters => self.delimited(),
            Kind::Matrix => formula::joined(self.take_all(Kind::MatrixRow), "; "),
            Kind::MatrixRow => formula::joined(self.take_all(Kind::Base), " "),
            Kind::Equations => formula::joined(self.take_all(Kind::Base), "; "),
            Kind::Function => self.function(),
            Kind::Accent => {
                let mark = self.properties.sign.take().unwrap_or_else(|| "\u{302}".to_owned());
                // Word has two lines over a letter; one is written.
                let mark = if mark == "\u{305}" { "\u{304}".to_owned() } else { mark };
                formula::over(self.take(Kind::Base), Part::new(mark, Binding::Atom))
            }
            Kind::Bar if self.properties.is_over => {
                formula::over(self.take(Kind::Base), Part::new("¯".to_owned(), Binding::Atom))
            }
            Kind::LowerLimit => formula::scripted(self.take(Kind::Base), [(self.take(Kind::Limit), Part::default())]),
            Kind::UpperLimit => formula::scripted(self.take(Kind::Base), [(Part::default(), self.take(Kind::Limit))]),
            _ => Part::default(),
        };
        // What a structure should not contain is written behind it, so that no text is lost.
        formula::row(std::iter::once(structure).chain(self.parts.into_iter().map(|(_, part)| part)))
    }

    fn take_scripts(&mut self) -> (Part, Part) {
        (self.take(Kind::Below), self.take(Kind::Above))
    }

    fn delimited(&mut self) -> Part {
        let Properties { begin, separator, end, .. } = mem::take(&mut self.properties);
        let given = |sign: Option<String>, default: &str| sign.unwrap_or_else(|| default.to_owned());
        let (begin, separator, end) = (given(begin, "("), given(separator, "|"), given(end, ")"));
        let content = formula::joined(self.take_all(Kind::Base), &separator).text;
        let binding = if begin.is_empty() || end.is_empty() { Binding::Row } else { Binding::Atom };
        Part::new(format!("{begin}{content}{end}"), binding)
    }

    fn function(&mut self) -> Part {
        let (name, argument) = (self.take(Kind::FunctionName), self.take(Kind::Base));
        if name.text.is_empty() || argument.text.starts_with(['(', '[', '{', '|']) {
            return formula::row([name, argument]);
        }
        Part::new(format!("{} {}", name.text, argument.text), Binding::Row)
    }
}

/// Writes the text of runs, which is a row of symbols unless it is one number or name.
fn leaf(text: &str, is_upright: bool) -> Part {
    let text = formula::shown(text);
    let symbols = text.trim();
    let is_atom = symbols.chars().nth(1).is_none()
        || symbols.chars().all(|c| c.is_numeric() || matches!(c, '.' | ','))
        || (is_upright && symbols.chars().all(char::is_alphabetic))
        || formula::is_enclosed(symbols);
    Part::new(text, if is_atom { Binding::Atom } else { Binding::Row })
}

struct Formula {
    /// Open elements; the first is the formula.
    open: Vec<Element>,
    /// Number of open elements that are too deep for their structure to be written.
    deeper: usize,
}

impl Formula {
    fn start(&mut self, name: &str, element: &BytesStart) {
        self.note(name, element);
        if self.open.len() < MAX_DEPTH {
            self.open.push(Element { kind: Kind::of(name), ..Element::default() });
        } else {
            self.deeper += 1;
        }
    }

    /// Takes note of a property or line break.
    fn note(&mut self, name: &str, element: &BytesStart) {
        if name == "br" {
            self.push_text(" ");
        } else if self.deeper == 0
            && let Some(open) = self.open.last_mut().filter(|open| open.kind == Kind::Properties)
        {
            open.properties.note(name, element);
        }
    }

    fn push_text(&mut self, text: &str) {
        if let Some(open) = self.open.last_mut() {
            open.push_text(text, open.properties.is_upright);
        }
    }

    /// Ends the last open element. Returns the formula at its end.
    fn end(&mut self) -> Option<Part> {
        if self.deeper > 0 {
            self.deeper -= 1;
            return None;
        }
        let element = self.open.pop()?;
        match self.open.last_mut() {
            Some(parent) => {
                parent.push(element);
                None
            }
            None => Some(element.written()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(formula: &str) -> Option<String> {
        let part = format!("<m:oMath>{formula}</m:oMath>");
        let mut reader = Reader::from_str(&part);
        reader.config_mut().check_end_names = false;
        reader.read_event().ok()?;
        read(&mut reader)
    }

    /// Builds an element with a run.
    fn argument(name: &str, text: &str) -> String {
        format!("<m:{name}><m:r><m:t>{text}</m:t></m:r></m:{name}>")
    }

    #[test]
    fn formulas_keep_their_structure() {
        let run = |text: &str| format!("<m:r><m:t>{text}</m:t></m:r>");
        let upright = |text: &str| format!(r#"<m:r><m:rPr><m:sty m:val="p"/></m:rPr><m:t>{text}</m:t></m:r>"#);
        let half = format!("<m:f>{}{}</m:f>", argument("num", "1"), argument("den", "2"));
        let base = |text: &str| argument("e", text);
        let (below, above) = (|text: &str| argument("sub", text), |text: &str| argument("sup", text));
        let limit = format!("<m:limLow><m:e>{}</m:e>{}</m:limLow>", upright("lim"), argument("lim", "n→∞"));
        for (formula, expected) in [
            (half.clone(), "1/2"),
            (run("1") + &run("0") + &half, "10 1/2"),
            (format!("<m:d>{}</m:d>{half}", base("x")), "(x) 1/2"),
            (
                format!(
                    "<m:f>{}{}</m:f>{}<m:sSup>{}{}</m:sSup>",
                    argument("num", "a+1"),
                    argument("den", "b"),
                    run("="),
                    base("x"),
                    above("2")
                ),
                "(a+1)/b=x^2",
            ),
            (format!(r#"<m:f><m:fPr><m:type m:val="noBar"/></m:fPr>{}</m:f>"#, argument("num", "n")), "n"),
            (format!("<m:sSup>{}{}</m:sSup>{}", base("10"), above("6"), upright("m")), "10^6 m"),
            (format!("<m:sSup>{}{}</m:sSup>", base("10"), above("−6")), "10^(−6)"),
            (format!("<m:sSubSup>{}{}{}</m:sSubSup>", base("x"), below("ij"), above("2")), "x_(ij)^2"),
            (format!("<m:sPre>{}{}{}</m:sPre>", below("6"), above("14"), base("C")), "_6^14 C"),
            (format!("<m:rad><m:deg/>{}</m:rad>", base("a+b")), "√(a+b)"),
            (format!("<m:rad>{}{}</m:rad>", argument("deg", "3"), base("x")), "x^(1/3)"),
            (
                format!(
                    r#"<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr>{}{}{}</m:nary>"#,
                    below("i=1"),
                    above("n"),
                    base("i")
                ),
                "∑_(i=1)^n i",
            ),
            (format!("<m:nary>{}</m:nary>", base("x")), "∫x"),
            (
                format!(
                    r#"<m:d><m:dPr><m:begChr m:val="["/><m:endChr m:val=""/></m:dPr>{}{}</m:d>"#,
                    base("a"),
                    base("b")
                ),
                "[a|b",
            ),
            (format!("<m:m><m:mr>{}{}</m:mr><m:mr>{}</m:mr></m:m>", base("1"), base("2"), base("3")), "1 2; 3"),
            (format!("<m:eqArr>{}{}</m:eqArr>", base("a=b"), base("c=d")), "a=b; c=d"),
            (format!("<m:func><m:fName>{}</m:fName>{}</m:func>", upright("sin"), base("x")), "sin x"),
            (format!("<m:func><m:fName>{limit}</m:fName>{}</m:func>", base("a")), "lim_(n→∞) a"),
            (format!("<m:acc>{}</m:acc>", base("x")), "x\u{302}"),
            (format!(r#"<m:bar><m:barPr><m:pos m:val="top"/></m:barPr>{}</m:bar>"#, base("x")), "x\u{304}"),
            (format!("<m:groupChr>{}</m:groupChr>", base("x")), "x"),
            (format!(r#"<m:phant><m:phantPr><m:show m:val="0"/></m:phantPr>{}</m:phant>"#, base("x")), ""),
            (format!("{}<w:del>{}</w:del>{}", run("a"), run("b"), run("&lt;c")), "a<c"),
            // Text in a wrong place stays.
            (format!("<m:f>{}{}</m:f>", run("z"), argument("num", "1") + &argument("den", "2")), "1/2 z"),
        ] {
            assert_eq!(written(&formula).as_deref(), Some(expected), "{formula}");
        }
    }

    #[test]
    fn deep_formulas_keep_their_glyphs() {
        let depth = 100_000;
        let [open, close] = ["<m:d><m:e>", "</m:e></m:d>"].map(|tags| tags.repeat(depth));
        let text = written(&format!("{open}<m:r><m:t>23</m:t></m:r>{close}")).expect("a formula");
        assert!(text.contains("23") && text.len() < 100, "{text}");
        assert_eq!(written(&open), None);
    }
}
