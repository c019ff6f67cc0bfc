//! Files of a model's folder, as sentence-transformers and model2vec write them.

use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sha2::{Digest, Sha256};

/// Maximum size of the weights. Larger models are too slow on a CPU.
const MAX_WEIGHTS: u64 = 4 << 30;
/// Maximum size of other files. Tokenizers of multilingual models take 20 MB.
const MAX_FILE: u64 = 128 << 20;

/// Fault of a file in a model's folder.
#[derive(Debug, thiserror::Error)]
#[error("`{}`: {reason}", path.display())]
pub struct LoadError {
    pub path: PathBuf,
    pub reason: String,
}

impl LoadError {
    pub(crate) fn new(path: &Path, reason: impl Display) -> Self {
        Self { path: path.to_owned(), reason: reason.to_string() }
    }
}

/// Content of a file with its path, for errors.
pub struct Content {
    pub path: PathBuf,
    pub bytes: Vec<u8>,
}

/// A model's folder, with a digest of what was read from it.
pub struct Folder {
    root: PathBuf,
    /// Folder of the tokenizer and the weights: the first module's.
    model: PathBuf,
    /// Folder of the pooling module.
    pooling: Option<PathBuf>,
    digest: Sha256,
}

/// Entry of `modules.json`.
#[derive(Deserialize)]
struct Module {
    /// Python class, such as `sentence_transformers.models.Pooling`.
    #[serde(rename = "type")]
    class: String,
    #[serde(default)]
    path: String,
}

impl Folder {
    /// Reads `modules.json`. Without it, all files are in the folder itself, apart from those of a pooling module at its usual place.
    ///
    /// # Errors
    /// The folder does not exist, or has modules that change vectors in an unsupported way.
    pub fn open(root: &Path) -> Result<Self, LoadError> {
        if !root.is_dir() {
            return Err(LoadError::new(root, "is no folder"));
        }
        let (root, model) = (root.to_owned(), root.to_owned());
        let mut folder = Self { root, model, pooling: None, digest: Sha256::new() };
        let path = folder.root.join("modules.json");
        let Some(modules) = folder.json::<Vec<Module>>(&path)? else {
            let pooling = folder.root.join("1_Pooling");
            folder.pooling = pooling.join("config.json").exists().then_some(pooling);
            return Ok(folder);
        };
        for (place, module) in modules.iter().enumerate() {
            let inner = || inner_path(&folder.root, &module.path).map_err(|reason| LoadError::new(&path, reason));
            match module.class.rsplit('.').next().unwrap_or_default() {
                "Transformer" | "StaticEmbedding" if place == 0 => folder.model = inner()?,
                "Pooling" => folder.pooling = Some(inner()?),
                // Vectors are always normalized, and dropout is for training.
                "Normalize" | "Dropout" => {}
                class => return Err(LoadError::new(&path, format!("module `{class}` is not supported"))),
            }
        }
        Ok(folder)
    }

    /// Reads `model.safetensors`.
    pub fn weights(&mut self) -> Result<Content, LoadError> {
        let path = self.model.join("model.safetensors");
        if !path.exists() && ["model.safetensors.index.json", "pytorch_model.bin"].iter().any(|other| self.has(other)) {
            return Err(LoadError::new(&path, "is missing: convert the weights to a single safetensors file"));
        }
        self.required(path, MAX_WEIGHTS)
    }

    /// Reads a required file beside the weights.
    pub fn file(&mut self, name: &str) -> Result<Content, LoadError> {
        self.required(self.model.join(name), MAX_FILE)
    }

    /// Reads an optional JSON file beside the weights.
    pub fn config<T: DeserializeOwned>(&mut self, name: &str) -> Result<Option<T>, LoadError> {
        self.json(&self.model.join(name))
    }

    /// Reads the configuration of the pooling module, if there is one.
    ///
    /// # Errors
    /// The module has no configuration: with the wrong pooling the vectors would be bad without a sign.
    pub fn pooling<T: DeserializeOwned>(&mut self) -> Result<Option<(PathBuf, T)>, LoadError> {
        let Some(path) = self.pooling.as_ref().map(|folder| folder.join("config.json")) else { return Ok(None) };
        match self.json(&path)? {
            Some(config) => Ok(Some((path, config))),
            None => Err(LoadError::new(&path, "is missing: copy the folder of the pooling module, too")),
        }
    }

    pub fn path_of(&self, name: &str) -> PathBuf {
        self.model.join(name)
    }

    /// Returns the digest of all files that were read, in their order.
    pub fn digest(&self) -> Sha256 {
        self.digest.clone()
    }

    fn has(&self, name: &str) -> bool {
        self.model.join(name).exists()
    }

    fn json<T: DeserializeOwned>(&mut self, path: &Path) -> Result<Option<T>, LoadError> {
        if !path.exists() {
            return Ok(None);
        }
        let content = self.required(path.to_owned(), MAX_FILE)?;
        serde_json::from_slice(&content.bytes).map(Some).map_err(|error| LoadError::new(path, error))
    }

    fn required(&mut self, path: PathBuf, maximum: u64) -> Result<Content, LoadError> {
        let bytes = read(&path, maximum).map_err(|reason| LoadError::new(&path, reason))?;
        self.digest.update((bytes.len() as u64).to_le_bytes());
        self.digest.update(&bytes);
        Ok(Content { path, bytes })
    }
}

/// Reads a file of at most `maximum` bytes. Devices and pipes are refused.
fn read(path: &Path, maximum: u64) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        return Err("is no file".to_owned());
    }
    if metadata.len() > maximum {
        return Err(format!("has {} bytes, and at most {maximum} are supported", metadata.len()));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    file.take(maximum).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Returns the path of a module, which is inside of the folder.
fn inner_path(root: &Path, path: &str) -> Result<PathBuf, String> {
    let is_inside = |component| matches!(component, Component::Normal(_) | Component::CurDir);
    if Path::new(path).components().all(is_inside) {
        Ok(root.join(path))
    } else {
        Err(format!("the path `{path}` leads out of the folder"))
    }
}
