//! Manifests in files and folders.

use std::path::{Path, PathBuf};
use std::{fs, io};

use serde_json::Value;

/// Manifests could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// A file or a folder could not be read.
    #[error("{0}: {1}")]
    Read(PathBuf, #[source] io::Error),
    /// A folder has no manifest.
    #[error("{0} has no .yaml, .yml or .json file")]
    Empty(PathBuf),
    /// A text is not YAML.
    #[error("the manifests are not valid: {0}")]
    Yaml(String),
    /// Webhooks were expected.
    #[error("there is no webhook in the manifests")]
    NoWebhook,
}

/// Objects in files, or in a text: YAML with any number of documents, or JSON.
#[derive(Clone, Debug)]
pub struct Manifests {
    stream: String,
    namespace: Option<String>,
}

impl Manifests {
    /// Reads files, and of folders all files with the extensions yaml, yml and json, by name.
    pub fn read(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Manifests, ManifestError> {
        let mut stream = String::new();
        for path in paths {
            for file in files(path.as_ref())? {
                let text = fs::read_to_string(&file).map_err(|error| ManifestError::Read(file, error))?;
                stream = stream + "---\n" + &text + "\n";
            }
        }
        Ok(Manifests { stream, namespace: None })
    }

    /// A manifest in a text.
    pub fn from_text(text: impl Into<String>) -> Manifests {
        Manifests { stream: text.into(), namespace: None }
    }

    /// The same objects, where those that need a namespace and name none are in this one. Webhooks get only objects of it.
    /// Otherwise, objects are in default, and webhooks get those of all namespaces.
    pub fn in_namespace(self, namespace: impl Into<String>) -> Manifests {
        Manifests { namespace: Some(namespace.into()), ..self }
    }

    pub(crate) fn stream(&self) -> &str {
        &self.stream
    }

    pub(crate) fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    pub(crate) fn objects(&self) -> Result<Vec<Value>, ManifestError> {
        serde_saphyr::from_multiple(&self.stream).map_err(|error| ManifestError::Yaml(error.to_string()))
    }
}

fn files(path: &Path) -> Result<Vec<PathBuf>, ManifestError> {
    if !path.is_dir() {
        return Ok(vec![path.into()]);
    }
    let entries = fs::read_dir(path).map_err(|error| ManifestError::Read(path.into(), error))?;
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_manifest).collect();
    files.sort();
    if files.is_empty() { Err(ManifestError::Empty(path.into())) } else { Ok(files) }
}

fn is_manifest(path: &PathBuf) -> bool {
    path.extension().is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|one| extension == *one))
}
