//! The operator with a real API server.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use coxswain_test::{Manifests, Server};
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use serde_json::json;
use tokio::task::JoinHandle;
use websites::controller::{self, Context};
use websites::{Website, WebsiteSpec, WebsiteStatus, webhook};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Installs the definition and the roles.
async fn install(server: &Server) -> Result<Api<Website>, coxswain_test::Error> {
    server.install(&Manifests::read(["config/crd.yaml", "config/rbac.yaml"])?).await?;
    Ok(Api::default_namespaced(server.client()))
}

/// Runs the controller with the rights of its ServiceAccount.
async fn start_operator(server: &Server) -> Result<JoinHandle<()>, coxswain_test::Error> {
    let client = server.as_service_account("website-operator", "operator").await?;
    Ok(tokio::spawn(async { controller::run(client, "default").await }))
}

fn website(image: &str, lifetime_hours: Option<i64>) -> Website {
    Website::new("shop", WebsiteSpec { image: image.into(), replicas: Some(2), lifetime_hours })
}

/// Reads until the condition is met.
async fn eventually<T, F: Future<Output = Result<T, kube::Error>>>(
    read: impl Fn() -> F,
    is_met: impl Fn(&T) -> bool,
) -> T {
    let reading = async {
        loop {
            match read().await {
                Ok(value) if is_met(&value) => return value,
                _ => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), reading).await.expect("the condition is not met")
}

#[tokio::test]
async fn a_website_runs_in_a_deployment() -> Outcome {
    coxswain_test::run(async |server| {
        let websites = install(server).await?;
        let operator = start_operator(server).await?;
        let site = websites.create(&PostParams::default(), &website("shop:1", None)).await?;
        let deployments: Api<Deployment> = Api::default_namespaced(server.client());
        let deployment = eventually(|| deployments.get("shop"), |_| true).await;
        assert_eq!(deployment.owner_references()[0].uid, site.uid().unwrap());
        assert_eq!(deployment.spec.unwrap().replicas, Some(2));
        // No kubelet runs the pods, so the test writes the status of the Deployment.
        let status = Patch::Merge(json!({"status": {"replicas": 2, "readyReplicas": 2}}));
        deployments.patch_status("shop", &PatchParams::default(), &status).await?;
        let ready = WebsiteStatus { observed_generation: 1, ready_replicas: 2 };
        eventually(|| websites.get("shop"), |site| site.status.as_ref() == Some(&ready)).await;
        operator.abort();
        Ok(())
    })
    .await
}

#[tokio::test]
async fn conflicts_of_the_status_are_tried_again() -> Outcome {
    coxswain_test::run(async |server| {
        let websites = install(server).await?;
        let updates = json!({"verb": "update", "resource": "websites", "subresource": "status", "count": 2});
        let rule = server.add_fault(&updates, &json!({"type": "conflict"})).await?;
        let operator = start_operator(server).await?;
        websites.create(&PostParams::default(), &website("shop:1", None)).await?;
        eventually(|| websites.get("shop"), |site| site.status.is_some()).await;
        assert_eq!(rule.hits().await?, 2);
        operator.abort();
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_webhook_rejects_images_that_can_change() -> Outcome {
    coxswain_test::run(async |server| {
        let websites = install(server).await?;
        let _webhook = server.webhooks(&Manifests::read(["config/webhook.yaml"])?, webhook::review).await?;
        let latest = website("registry:5000/shop:latest", None);
        let rejected = websites.create(&PostParams::default(), &latest).await.unwrap_err();
        assert!(rejected.to_string().contains("needs a tag other than latest"), "{rejected}");
        websites.create(&PostParams::default(), &website("registry:5000/shop:1", None)).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn previews_end() -> Outcome {
    coxswain_test::run_with(["--virtual-clock"], async |server| {
        let websites = install(server).await?;
        let site = Arc::new(websites.create(&PostParams::default(), &website("shop:1", Some(24))).await?);
        for (hours, exists) in [(23, true), (1, false)] {
            server.advance(Duration::from_secs(hours * 3600)).await?;
            let now = server.now().await?;
            let context = Context { client: server.client(), now: Box::new(move || now) };
            controller::reconcile(site.clone(), Arc::new(context)).await?;
            assert_eq!(websites.get_opt("shop").await?.is_some(), exists);
        }
        Ok(())
    })
    .await
}
