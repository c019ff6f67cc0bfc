//! Model in a folder, computed by an example of `models-local`: this crate links no models.

use super::numbers;
use super::vectors::Vectors;
use crate::shell;
use anyhow::{Context, anyhow};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Running program. It ends with its input.
pub struct ModelProgram(Mutex<Running>);

struct Running {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    /// Vectors by text: vectors with noise have those of the model underneath.
    known: HashMap<String, Vec<f32>>,
}

impl ModelProgram {
    /// Builds the program and loads the model.
    ///
    /// # Errors
    ///
    /// Returns an error if the build fails. A model that cannot be loaded is an error of the first call.
    pub fn start(folder: &Path) -> anyhow::Result<Self> {
        let mut build = shell::cargo();
        build.args(["build", "--release", "--package", "models-local", "--example", "embed_lines"]);
        shell::run(&mut build)?;
        let program = shell::target_folder()?.join("release/examples/embed_lines");
        let mut process = Command::new(program).arg(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = process.stdin.take();
        let output = BufReader::new(process.stdout.take().context("the model program has no output")?);
        Ok(Self(Mutex::new(Running { process, input, output, known: HashMap::new() })))
    }
}

impl Vectors for ModelProgram {
    fn embed(&self, texts: &[String]) -> anyhow::Result<Vec<Vec<f32>>> {
        let mut running = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<&String> = texts.iter().filter(|text| !running.known.contains_key(*text)).collect();
        new.sort_unstable();
        new.dedup();
        if !new.is_empty() {
            let vectors = running.compute(&new)?;
            running.known.extend(new.into_iter().cloned().zip(vectors));
        }
        let known = |text: &String| running.known.get(text).cloned().context("no vector of a text");
        texts.iter().map(known).collect()
    }
}

impl Running {
    fn compute(&mut self, texts: &[&String]) -> anyhow::Result<Vec<Vec<f32>>> {
        let input = self.input.as_mut().context("the model program has no input")?;
        writeln!(input, "{}", json!(texts))?;
        input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        let vectors: Value = serde_json::from_str(&line).context("the model program ended: see its message above")?;
        let vectors: Option<Vec<Vec<f32>>> = vectors.as_array().into_iter().flatten().map(numbers).collect();
        vectors.filter(|vectors| vectors.len() == texts.len()).ok_or_else(|| anyhow!("unusable vectors: `{line}`"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.wait();
    }
}
