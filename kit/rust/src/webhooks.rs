//! Webhooks of tests: functions, and servers of their own.

use std::fmt::Display;
use std::net::TcpListener;
use std::sync::Arc;

use kube::Client;
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::control::call;
use crate::reviews::{admission, conversion};
use crate::serving::{Answer, Serving};
use crate::{Error, ManifestError, Manifests, Server};

const WEBHOOKS: &str = "/testing/webhooks";
const CERTIFICATES: &str = "/testing/certificates";

/// Where a webhook server of a test listens, and its certificate, as PEM.
#[derive(Clone, Debug, Deserialize)]
pub struct WebhookServing {
    pub certificate: String,
    pub key: String,
    /// The certificate of the authority.
    pub ca: String,
    /// A port of 127.0.0.1 that was free.
    #[serde(skip)]
    pub port: u16,
}

impl WebhookServing {
    /// Such as `https://127.0.0.1:40123`.
    pub fn url(&self) -> String {
        format!("https://127.0.0.1:{}", self.port)
    }
}

#[derive(Deserialize)]
struct Added {
    name: String,
}

/// Webhooks that the server calls until they are removed. Those of a function fail when this is dropped.
pub struct Webhook {
    client: Client,
    names: Vec<String>,
    _serving: Option<Serving>,
}

impl Webhook {
    /// The server does not call them any more.
    pub async fn remove(self) -> Result<(), Error> {
        for name in &self.names {
            let _: Value = call(&self.client, "DELETE", &format!("{WEBHOOKS}/{name}"), None).await?;
        }
        Ok(())
    }
}

/// Webhooks.
impl Server {
    /// Makes a function a webhook. A spec is such as `{"validating": {"rules": [{"resources": ["pods"]}]}}`.
    pub async fn webhook(
        &self,
        spec: &impl Serialize,
        review: impl Fn(AdmissionRequest<DynamicObject>) -> AdmissionResponse + Send + Sync + 'static,
    ) -> Result<Webhook, Error> {
        let answer = Arc::new(move |text: &[u8]| admission(text, &review));
        self.serve(vec![(json!(spec), String::new())], answer).await
    }

    /// Makes a function the conversion of a CustomResourceDefinition that is installed, such as `widgets.example.com`. It
    /// gets an object and an apiVersion, which is set in the object that it returns. Its error is that of the client whose
    /// request needs the conversion.
    pub async fn conversion<E: Display>(
        &self,
        definition: &str,
        convert: impl Fn(DynamicObject, &str) -> Result<DynamicObject, E> + Send + Sync + 'static,
    ) -> Result<Webhook, Error> {
        let spec = json!({"conversion": {"definition": definition}});
        self.serve(vec![(spec, String::new())], Arc::new(move |text: &[u8]| conversion(text, &convert))).await
    }

    /// Makes the server call a URL.
    pub async fn webhook_at(&self, spec: &impl Serialize, url: &str) -> Result<Webhook, Error> {
        self.register(vec![(json!(spec), String::new())], url, None).await
    }

    /// Makes a function the webhooks of manifests: of their ValidatingWebhookConfigurations and
    /// MutatingWebhookConfigurations.
    pub async fn webhooks(
        &self,
        manifests: &Manifests,
        review: impl Fn(AdmissionRequest<DynamicObject>) -> AdmissionResponse + Send + Sync + 'static,
    ) -> Result<Webhook, Error> {
        self.serve(specs_of(manifests)?, Arc::new(move |text: &[u8]| admission(text, &review))).await
    }

    /// Makes the server call the webhooks of manifests at a URL, to which the path of each clientConfig is added; also the
    /// conversions of CustomResourceDefinitions that are installed. Waits until the URL is served.
    pub async fn webhooks_at(&self, manifests: &Manifests, url: &str) -> Result<Webhook, Error> {
        self.register(specs_of(manifests)?, url, None).await
    }

    /// Issues a certificate for a webhook server of a test, and finds a port for it.
    pub async fn webhook_serving(&self) -> Result<WebhookServing, Error> {
        let body = json!({"hosts": ["127.0.0.1", "localhost"]});
        let issued: WebhookServing = call(&self.client(), "POST", CERTIFICATES, Some(body)).await?;
        let port = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port();
        Ok(WebhookServing { port, ..issued })
    }

    async fn serve(&self, specs: Vec<(Value, String)>, answer: Answer) -> Result<Webhook, Error> {
        let serving = Serving::start(answer).await?;
        let url = serving.url().to_owned();
        self.register(specs, &url, Some(serving)).await
    }

    async fn register(
        &self,
        specs: Vec<(Value, String)>,
        url: &str,
        serving: Option<Serving>,
    ) -> Result<Webhook, Error> {
        let mut webhook = Webhook { client: self.client(), names: Vec::new(), _serving: serving };
        for (mut spec, path) in specs {
            spec["url"] = json!(format!("{url}{path}"));
            let added: Added = call(&webhook.client, "POST", WEBHOOKS, Some(spec)).await?;
            webhook.names.push(added.name);
        }
        Ok(webhook)
    }
}

/// The webhooks of manifests, as the control of the server accepts them, with the paths of their servers.
fn specs_of(manifests: &Manifests) -> Result<Vec<(Value, String)>, ManifestError> {
    let mut specs = Vec::new();
    for object in manifests.objects()? {
        let kind = match object["kind"].as_str() {
            Some("ValidatingWebhookConfiguration") => "validating",
            Some("MutatingWebhookConfiguration") => "mutating",
            _ => {
                specs.extend(conversion_of(&object));
                continue;
            }
        };
        for entry in object["webhooks"].as_array().into_iter().flatten() {
            let mut fields = entry.as_object().cloned().unwrap_or_default();
            let path = path_of(&fields.remove("clientConfig").unwrap_or_default());
            if let Some(namespace) = manifests.namespace() {
                fields.insert("namespace".into(), json!(namespace));
            }
            specs.push((json!({kind: fields}), path));
        }
    }
    if specs.is_empty() { Err(ManifestError::NoWebhook) } else { Ok(specs) }
}

fn conversion_of(object: &Value) -> Option<(Value, String)> {
    let webhook =
        object.pointer("/spec/conversion/webhook").filter(|_| object["kind"] == "CustomResourceDefinition")?;
    let versions = &webhook["conversionReviewVersions"];
    let conversion = json!({"definition": object["metadata"]["name"], "conversionReviewVersions": versions});
    Some((json!({"conversion": conversion}), path_of(&webhook["clientConfig"])))
}

fn path_of(client_config: &Value) -> String {
    client_config.pointer("/service/path").and_then(Value::as_str).unwrap_or_default().into()
}
