//! Webhooks with a real server and kube-rs.

use coxswain_test::{Error, ManifestError, Manifests};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, PostParams};
use kube::core::GroupVersionKind;
use kube::core::admission::{AdmissionRequest, AdmissionResponse};
use serde_json::json;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn config_map(name: &str) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name}})).expect("the object fits the type")
}

fn reject_bad(request: AdmissionRequest<DynamicObject>) -> AdmissionResponse {
    let response = AdmissionResponse::from(&request);
    if request.name == "bad" { response.deny("not good") } else { response }
}

async fn rejection(maps: &Api<ConfigMap>, name: &str) -> String {
    maps.create(&PostParams::default(), &config_map(name)).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_function_validates() -> Outcome {
    coxswain_test::run(async |server| {
        let maps: Api<ConfigMap> = Api::default_namespaced(server.client());
        let spec = json!({"validating": {"rules": [{"resources": ["configmaps"]}], "namespace": "default"}});
        let webhook = server.webhook(&spec, reject_bad).await?;
        maps.create(&PostParams::default(), &config_map("good")).await?;
        assert!(rejection(&maps, "bad").await.contains("not good"));
        webhook.remove().await?;
        maps.create(&PostParams::default(), &config_map("bad")).await?;
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_function_mutates() -> Outcome {
    coxswain_test::run(async |server| {
        let maps: Api<ConfigMap> = Api::default_namespaced(server.client());
        let spec = json!({"mutating": {"rules": [{"resources": ["configmaps"]}], "namespace": "default"}});
        let patch = json!([{"op": "add", "path": "/data", "value": {"by": "webhook"}}]);
        let _webhook = server
            .webhook(&spec, move |request| {
                let patch = serde_json::from_value(patch.clone()).expect("the patch is valid");
                AdmissionResponse::from(&request).with_patch(patch).expect("the patch is valid")
            })
            .await?;
        let created = maps.create(&PostParams::default(), &config_map("a")).await?;
        assert_eq!(created.data.unwrap()["by"], "webhook");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_function_has_the_webhook_of_a_manifest() -> Outcome {
    coxswain_test::run(async |server| {
        let maps: Api<ConfigMap> = Api::default_namespaced(server.client());
        let manifests = Manifests::read(["tests/testdata"])?.in_namespace("default");
        let _webhook = server.webhooks(&manifests, reject_bad).await?;
        let denied = r#"admission webhook "names.example.com" denied the request: not good"#;
        assert!(rejection(&maps, "bad").await.contains(denied));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_function_converts() -> Outcome {
    coxswain_test::run(async |server| {
        server.install(&Manifests::read(["tests/testdata/gauges.yaml"])?).await?;
        let kind = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v2", "Gauge"));
        let gauges: Api<DynamicObject> = Api::default_namespaced_with(server.client(), &kind);
        let conversion = server
            .conversion("gauges.example.com", |mut gauge, version| {
                let meters = gauge.data["spec"]["meters"].as_i64().ok_or("it has no height")?;
                if version == "example.com/v2" {
                    gauge.data["spec"] = json!({"centimeters": meters * 100});
                }
                Ok::<_, &str>(gauge)
            })
            .await?;
        assert_eq!(gauges.get("a").await?.data["spec"], json!({"centimeters": 300}));
        conversion.remove().await?;
        let _failing = server.conversion("gauges.example.com", |_, _| Err("this height is not known")).await?;
        let error = gauges.get("a").await.unwrap_err().to_string();
        assert!(error.contains("this height is not known"), "{error}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn errors() -> Outcome {
    coxswain_test::run(async |server| {
        let manifests = Manifests::read(["tests/testdata/crd.yaml"])?;
        let none = server.webhooks(&manifests, reject_bad).await.err().expect("it is an error");
        assert!(matches!(none, Error::Manifest(ManifestError::NoWebhook)));
        let spec = json!({"validating": {"rules": [{"resources": ["pods"]}]}});
        let remote = server.webhook_at(&spec, "http://192.0.2.1/").await.err().expect("it is an error");
        assert!(remote.to_string().contains("url"), "{remote}");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn certificates_are_issued() -> Outcome {
    coxswain_test::run(async |server| {
        let serving = server.webhook_serving().await?;
        assert!(serving.certificate.starts_with("-----BEGIN CERTIFICATE-----") && serving.key.contains("PRIVATE KEY"));
        assert_eq!(serving.url(), format!("https://127.0.0.1:{}", serving.port));
        Ok(())
    })
    .await
}
