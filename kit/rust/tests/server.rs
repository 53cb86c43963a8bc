//! Tests with a real server and kube-rs.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::process::Command;

use coxswain_test::{Error, StartError};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn config_map(name: &str) -> ConfigMap {
    ConfigMap {
        metadata: ObjectMeta { name: Some(name.into()), ..ObjectMeta::default() },
        data: Some(BTreeMap::from([("a".into(), "1".into())])),
        ..ConfigMap::default()
    }
}

#[tokio::test]
async fn namespaces_do_not_share_objects() -> Outcome {
    let server = coxswain_test::start().await?;
    for _ in 0..2 {
        let api: Api<ConfigMap> = Api::namespaced(server.client(), &server.namespace().await?);
        assert!(api.get_opt("mine").await?.is_none());
        api.create(&PostParams::default(), &config_map("mine")).await?;
    }
    Ok(())
}

#[tokio::test]
async fn the_api_rejects_what_kubernetes_rejects() -> Outcome {
    let server = coxswain_test::start().await?;
    let api: Api<ConfigMap> = Api::default_namespaced(server.client());
    let error = api.create(&PostParams::default(), &config_map("Not_a_name")).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 422));
    Ok(())
}

#[tokio::test]
async fn flags_are_those_of_the_server() -> Outcome {
    let server = coxswain_test::start_with(["--runtime-config=batch/v1=false"]).await?;
    let groups = server.client().list_api_groups().await?.groups;
    assert!(groups.iter().any(|group| group.name == "apps"));
    assert!(groups.iter().all(|group| group.name != "batch"));
    Ok(())
}

#[tokio::test]
async fn a_dropped_server_has_ended() -> Outcome {
    let server = coxswain_test::start().await?;
    let (client, kubeconfig) = (server.client(), PathBuf::from(server.kubeconfig()));
    assert!(kubeconfig.exists());
    drop(server);
    assert!(!kubeconfig.exists());
    assert!(client.apiserver_version().await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_server_that_cannot_start_is_an_error() {
    let started = coxswain_test::start_with(["--no-such-flag"]).await;
    assert!(matches!(started.err(), Some(Error::Start(StartError::NotReady))));
}

#[tokio::test]
async fn the_timeline_has_the_requests_since_a_mark() -> Outcome {
    let server = coxswain_test::start().await?;
    let api: Api<ConfigMap> = Api::default_namespaced(server.client());
    api.create(&PostParams::default(), &config_map("before")).await?;
    let mark = server.mark().await?;
    api.create(&PostParams::default(), &config_map("after")).await?;
    let timeline = server.timeline(mark).await?;
    assert!(timeline.contains("after") && !timeline.contains("before"), "{timeline}");
    Ok(())
}

/// Runs only in a process of the test below.
#[tokio::test]
#[ignore = "panics on purpose"]
async fn panics_after_a_request() {
    let server = coxswain_test::start().await.unwrap();
    let api: Api<ConfigMap> = Api::default_namespaced(server.client());
    api.create(&PostParams::default(), &config_map("mine")).await.unwrap();
    panic!("on purpose");
}

/// Runs only in a process of the test below.
#[tokio::test]
#[ignore = "fails on purpose"]
async fn fails_after_a_request() -> Outcome {
    coxswain_test::run_with(["--authorization-mode=RBAC"], async |server| {
        let api: Api<ConfigMap> = Api::default_namespaced(server.client());
        api.create(&PostParams::default(), &config_map("mine")).await?;
        Err("on purpose".into())
    })
    .await
}

#[test]
fn a_test_that_fails_prints_the_timeline() {
    for name in ["panics_after_a_request", "fails_after_a_request"] {
        let test = ["--ignored", "--exact", name, "--nocapture"];
        let run = Command::new(env::current_exe().unwrap()).args(test).output().unwrap();
        let printed = String::from_utf8_lossy(&run.stderr);
        assert!(!run.status.success());
        assert!(printed.contains("timeline of the server:") && printed.contains("/mine"), "{name}: {printed}");
    }
}

#[tokio::test]
async fn a_test_that_passes_returns_its_result() -> Outcome {
    coxswain_test::run(async |server| {
        assert!(server.client().apiserver_version().await.is_ok());
        Ok(())
    })
    .await
}
