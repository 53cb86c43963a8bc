//! Objects that are installed for a test.

use kube::Client;
use serde::Deserialize;
use serde_json::Value;

use crate::control::{call, send};
use crate::{Error, Manifests, Server};

const INSTALL: &str = "/testing/install";

/// An object of an [`Installation`].
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InstalledObject {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    /// False if it existed before: it was changed then, and stays when the others are removed.
    pub created: bool,
}

#[derive(Deserialize)]
struct Added {
    name: String,
    objects: Vec<InstalledObject>,
}

/// Objects that were installed together.
pub struct Installation {
    client: Client,
    added: Added,
}

impl Installation {
    /// In the order in which they were installed.
    pub fn objects(&self) -> &[InstalledObject] {
        &self.added.objects
    }

    /// Deletes the objects that were created, the last one first, and waits until they are gone.
    pub async fn remove(self) -> Result<(), Error> {
        let path = format!("{INSTALL}/{}", self.added.name);
        call(&self.client, "DELETE", &path, None).await.map(|_: Value| ())
    }
}

/// Installations.
impl Server {
    /// Installs objects until they are removed or the server ends: definitions of custom resources first, whose kinds are
    /// then served, then namespaces, then the others. An object that exists is changed as by a forced server-side apply.
    /// All objects are installed or none. Configurations of webhooks are for [`Server::webhooks`].
    pub async fn install(&self, manifests: &Manifests) -> Result<Installation, Error> {
        let path = manifests.namespace().map_or_else(|| INSTALL.into(), |name| format!("{INSTALL}?namespace={name}"));
        let body = manifests.stream().as_bytes().to_vec();
        let added = send(&self.client(), "POST", &path, "application/yaml", body).await?;
        Ok(Installation { client: self.client(), added })
    }
}
