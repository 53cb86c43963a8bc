//! Snapshots, the clock and faults with a real server and kube-rs.

use std::time::Duration;

use coxswain_test::{Error, Server};
use k8s_openapi::api::core::v1::{ConfigMap, Event};
use k8s_openapi::jiff::SignedDuration;
use kube::Api;
use kube::api::PostParams;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn from<T: DeserializeOwned>(object: Value) -> T {
    serde_json::from_value(object).expect("the object fits the type")
}

fn config_maps(server: &Server) -> Api<ConfigMap> {
    Api::default_namespaced(server.client())
}

#[tokio::test]
async fn a_snapshot_is_restored() -> Outcome {
    let server = coxswain_test::start().await?;
    let maps = config_maps(&server);
    let prepared = server.snapshot().await?;
    for _ in 0..2 {
        maps.create(&PostParams::default(), &from(json!({"metadata": {"name": "a"}}))).await?;
        prepared.restore().await?;
        assert!(maps.get_opt("a").await?.is_none());
    }
    prepared.delete().await?;
    Ok(())
}

#[tokio::test]
async fn an_update_is_rejected_once() -> Outcome {
    let server = coxswain_test::start().await?;
    let maps = config_maps(&server);
    let map = maps.create(&PostParams::default(), &from(json!({"metadata": {"name": "a"}}))).await?;
    let rule = server.add_fault(&json!({"verb": "update", "count": 1}), &json!({"type": "conflict"})).await?;
    let error = maps.replace("a", &PostParams::default(), &map).await.unwrap_err();
    assert!(matches!(error, kube::Error::Api(status) if status.code == 409));
    maps.replace("a", &PostParams::default(), &map).await?;
    assert_eq!(rule.hits().await?, 1);
    assert_eq!(server.faults().await?[0].fault, json!({"type": "conflict"}));
    rule.remove().await?;
    assert!(server.faults().await?.is_empty());
    assert!(server.add_fault(&json!({}), &json!({"type": "none"})).await.is_err());
    Ok(())
}

#[tokio::test]
async fn events_are_gone_after_an_hour() -> Outcome {
    let server = coxswain_test::start_with(["--virtual-clock"]).await?;
    let events: Api<Event> = Api::default_namespaced(server.client());
    let involved = json!({"kind": "ConfigMap", "namespace": "default", "name": "b"});
    let event = json!({"metadata": {"name": "a"}, "involvedObject": involved});
    events.create(&PostParams::default(), &from(event)).await?;
    let before = server.now().await?;
    server.advance(Duration::from_secs(3600)).await?;
    assert_eq!(server.now().await?.duration_since(before), SignedDuration::from_hours(1));
    assert!(events.get_opt("a").await?.is_none());
    Ok(())
}

#[tokio::test]
async fn the_real_clock_does_not_advance() -> Outcome {
    let server = coxswain_test::start().await?;
    assert!(server.advance(Duration::from_secs(1)).await.is_err());
    Ok(())
}

#[tokio::test]
async fn a_fault_that_never_happened_is_an_error() -> Outcome {
    for optional in [false, true] {
        let result = coxswain_test::run(async |server| {
            let nothing = json!({"verb": "update", "name": "nothing", "optional": optional});
            server.add_fault(&nothing, &json!({"type": "conflict"})).await.map(|_| ())
        })
        .await;
        assert_eq!(matches!(result, Err(Error::UnusedFault(..))), !optional);
    }
    Ok(())
}
