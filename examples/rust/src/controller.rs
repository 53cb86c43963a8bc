//! Brings websites closer to their desired state.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::jiff::{SignedDuration, Timestamp};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::Controller;
use kube::runtime::controller::Action;
use kube::runtime::watcher;
use kube::{Api, Client, Error, Resource, ResourceExt};
use serde_json::json;

use crate::{Website, WebsiteStatus};

/// What the reconciler needs.
pub struct Context {
    pub client: Client,
    /// Returns the time.
    pub now: Box<dyn Fn() -> Timestamp + Send + Sync>,
}

/// Reconciles the websites of a namespace when they or their Deployments change.
pub async fn run(client: Client, namespace: &str) {
    let websites: Api<Website> = Api::namespaced(client.clone(), namespace);
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), namespace);
    let context = Arc::new(Context { client, now: Box::new(Timestamp::now) });
    Controller::new(websites, watcher::Config::default())
        .owns(deployments, watcher::Config::default())
        .run(reconcile, |_, _, _| Action::requeue(Duration::from_millis(200)), context)
        .for_each(async |result| {
            if let Err(error) = result {
                eprintln!("reconciling: {error}");
            }
        })
        .await;
}

/// Deletes a website whose lifetime is over. Of others, it applies the Deployment and reports the state.
pub async fn reconcile(website: Arc<Website>, context: Arc<Context>) -> Result<Action, Error> {
    if website.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change()); // Garbage collection deletes the Deployment.
    }
    let websites: Api<Website> = Api::namespaced(context.client.clone(), &website.namespace().unwrap_or_default());
    let remaining = remaining_time(&website, (context.now)());
    if remaining.is_some_and(|time| !time.is_positive()) {
        let same = Preconditions { uid: website.uid(), ..Preconditions::default() };
        websites.delete(&website.name_any(), &DeleteParams::default().preconditions(same)).await?;
        return Ok(Action::await_change());
    }
    let deployment = apply_deployment(&website, &context.client).await?;
    report(&website, &deployment, &websites).await?;
    Ok(remaining.map_or_else(Action::await_change, |time| Action::requeue(time.unsigned_abs())))
}

fn remaining_time(website: &Website, now: Timestamp) -> Option<SignedDuration> {
    let lifetime = SignedDuration::from_hours(website.spec.lifetime_hours?);
    let created = website.creation_timestamp()?.0;
    Some((created + lifetime).duration_since(now))
}

async fn apply_deployment(website: &Website, client: &Client) -> Result<Deployment, Error> {
    let name = website.name_any();
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &website.namespace().unwrap_or_default());
    let labels = json!({"website": name});
    let desired = json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "ownerReferences": [website.controller_owner_ref(&())]},
        "spec": {
            "replicas": website.spec.replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{"name": "web", "image": website.spec.image}]},
            },
        },
    });
    deployments.patch(&name, &PatchParams::apply("website-operator").force(), &Patch::Apply(desired)).await
}

async fn report(website: &Website, deployment: &Deployment, websites: &Api<Website>) -> Result<(), Error> {
    let status = WebsiteStatus {
        observed_generation: website.metadata.generation.unwrap_or_default(),
        ready_replicas: deployment.status.as_ref().and_then(|status| status.ready_replicas).unwrap_or_default(),
    };
    if website.status.as_ref() == Some(&status) {
        return Ok(());
    }
    let changed = Website { status: Some(status), ..website.clone() };
    websites.replace_status(&website.name_any(), &PostParams::default(), &changed).await?;
    Ok(())
}
