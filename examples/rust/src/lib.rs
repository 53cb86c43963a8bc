//! An operator that runs each custom resource Website in a Deployment.

pub mod controller;
pub mod webhook;

use kube::CustomResource;
use serde::{Deserialize, Serialize};

/// The desired state of a website that runs in a Deployment of the same name.
#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Website",
    namespaced,
    status = "WebsiteStatus",
    schema = "disabled"
)]
#[serde(rename_all = "camelCase")]
pub struct WebsiteSpec {
    pub image: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// Of a preview, which is deleted afterwards. Without it, the website stays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime_hours: Option<i64>,
}

/// The current state.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WebsiteStatus {
    #[serde(default)]
    pub observed_generation: i64,
    #[serde(default)]
    pub ready_replicas: i32,
}
