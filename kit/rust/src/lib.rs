//! Gives tests a Kubernetes API server of their own: a process of the program `coxswain`, which keeps
//! its objects in memory. When a test panics, the requests of all clients are printed.
//!
//! ```no_run
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube::Api;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let server = coxswain_test::start().await?;
//! let namespace = server.namespace().await?;
//! let config_maps: Api<ConfigMap> = Api::namespaced(server.client(), &namespace);
//! assert!(config_maps.list(&Default::default()).await?.items.is_empty());
//! # Ok(())
//! # }
//! ```

mod accounts;
mod control;
mod installation;
mod manifests;
mod process;
mod reviews;
mod run;
mod serving;
mod timeline;
mod webhooks;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, ObjectMeta, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig, KubeconfigError};
use kube::{Client, Config};

pub use control::{FaultRule, FaultState, Snapshot};
pub use installation::{Installation, InstalledObject};
pub use manifests::{ManifestError, Manifests};
use process::Process;
pub use process::StartError;
pub use run::{run, run_with};
pub use timeline::Mark;
pub use webhooks::{Webhook, WebhookServing};

/// A server that could not be started or reached.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program could not be started, or the server was not ready.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The kubeconfig of the server is not usable.
    #[error("the kubeconfig of the server: {0}")]
    Kubeconfig(#[from] KubeconfigError),
    /// Manifests could not be read.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// The fault of a rule has not happened in a test of [`run`].
    #[error("the fault {0} never happened, for {1}; if that is right, set optional to true")]
    UnusedFault(serde_json::Value, serde_json::Value),
    /// No port was free for a webhook.
    #[error(transparent)]
    Listen(#[from] std::io::Error),
    /// The server rejected a request, or did not answer.
    #[error(transparent)]
    Client(#[from] kube::Error),
}

/// A Kubernetes API server. It ends when it is dropped, and with the process of the tests, even if that
/// is killed.
pub struct Server {
    process: Process,
    client: Client,
    /// Of the snapshots that were taken, for their names.
    snapshots: AtomicU64,
}

/// Starts a server and waits until it is ready.
pub async fn start() -> Result<Server, Error> {
    start_with([] as [&str; 0]).await
}

/// Starts a server that emulates a release of Kubernetes, such as `1.34`: its resources, feature gates and defaults.
pub async fn start_version(kubernetes_version: &str) -> Result<Server, Error> {
    start_with([format!("--kubernetes-version={kubernetes_version}")]).await
}

/// Starts a server with flags of `coxswain serve`, such as `--authorization-mode=AlwaysAllow`.
pub async fn start_with(flags: impl IntoIterator<Item = impl Into<String>>) -> Result<Server, Error> {
    let flags = flags.into_iter().map(Into::into).collect();
    let process = Process::start(flags).await?;
    let client = connect(process.kubeconfig()).await?;
    Ok(Server { process, client, snapshots: AtomicU64::new(0) })
}

async fn connect(kubeconfig: &Path) -> Result<Client, Error> {
    Ok(Client::try_from(config_of(kubeconfig).await?)?)
}

async fn config_of(kubeconfig: &Path) -> Result<Config, Error> {
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    Ok(Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
}

impl Server {
    /// A client whose user is in system:masters. All clients of a server share its connections.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The configuration of clients whose user is in system:masters, and whose requests without a namespace are made in
    /// this one.
    pub async fn config(&self, namespace: &str) -> Result<Config, Error> {
        let mut config = config_of(self.kubeconfig()).await?;
        config.default_namespace = namespace.into();
        Ok(config)
    }

    /// The URL of the server, with a port that was free.
    pub fn url(&self) -> &str {
        self.process.url()
    }

    /// The path of a kubeconfig whose user is in system:masters, for programs that a test runs.
    pub fn kubeconfig(&self) -> &Path {
        self.process.kubeconfig()
    }

    /// The current end of the timeline.
    pub async fn mark(&self) -> Result<Mark, Error> {
        timeline::mark(&self.client).await
    }

    /// The requests of all clients since a mark, as text, with their results and what they changed. The whole
    /// timeline is that since `Mark::default()`. Values of Secrets are not part of it.
    pub async fn timeline(&self, since: Mark) -> Result<String, Error> {
        timeline::timeline(&self.client, since).await
    }

    fn next_name(&self) -> String {
        format!("coxswain-test-{}", self.snapshots.fetch_add(1, Ordering::Relaxed))
    }

    /// Creates a namespace and returns its name, so that tests can share a server.
    pub async fn namespace(&self) -> Result<String, Error> {
        let metadata = ObjectMeta { generate_name: Some("test-".into()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        let created = Api::all(self.client()).create(&PostParams::default(), &namespace).await?;
        Ok(created.metadata.name.expect("the server sets the name"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if std::thread::panicking() {
            timeline::print(self.kubeconfig());
        }
    }
}
