//! Clients of service accounts, with a real server and kube-rs.

use std::time::Duration;

use k8s_openapi::api::authentication::v1::{SelfSubjectReview, UserInfo};
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::RoleBinding;
use kube::api::PostParams;
use kube::{Api, Client};
use serde_json::json;

type Outcome = Result<(), Box<dyn std::error::Error>>;

async fn user_of(client: &Client) -> Result<UserInfo, kube::Error> {
    let review = Api::all(client.clone()).create(&PostParams::default(), &SelfSubjectReview::default()).await?;
    Ok(review.status.and_then(|status| status.user_info).expect("the server sets the status"))
}

fn is_status<T>(result: Result<T, kube::Error>, code: u16) -> bool {
    matches!(result, Err(kube::Error::Api(status)) if status.code == code)
}

#[tokio::test]
async fn rights_are_those_of_its_roles() -> Outcome {
    let server = coxswain_test::start().await?;
    let client = server.as_service_account("default", "operator").await?;
    assert_eq!(user_of(&client).await?.username.unwrap(), "system:serviceaccount:default:operator");
    let maps: Api<ConfigMap> = Api::default_namespaced(client);
    assert!(is_status(maps.list(&Default::default()).await, 403));
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": "operator"},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
        "subjects": [{"kind": "ServiceAccount", "name": "operator", "namespace": "default"}],
    }))?;
    Api::default_namespaced(server.client()).create(&PostParams::default(), &binding).await?;
    maps.list(&Default::default()).await?;
    assert!(is_status(maps.create(&PostParams::default(), &ConfigMap::default()).await, 403));
    Ok(())
}

#[tokio::test]
async fn an_account_that_exists_is_used() -> Outcome {
    let server = coxswain_test::start().await?;
    let one = server.as_service_account("default", "operator").await?;
    let two = server.as_service_account("default", "operator").await?;
    assert_eq!(user_of(&one).await?.uid, user_of(&two).await?.uid);
    Ok(())
}

#[tokio::test]
async fn tokens_expire_by_the_time_of_the_server() -> Outcome {
    let server = coxswain_test::start_with(["--virtual-clock"]).await?;
    let client = server.as_service_account("default", "operator").await?;
    user_of(&client).await?;
    server.advance(Duration::from_secs(61 * 60)).await?;
    assert!(is_status(user_of(&client).await, 401));
    Ok(())
}

#[tokio::test]
async fn an_account_needs_its_namespace() -> Outcome {
    let server = coxswain_test::start().await?;
    let problem = server.as_service_account("nowhere", "operator").await.err().expect("it is an error");
    assert!(problem.to_string().contains("namespaces \"nowhere\" not found"), "{problem}");
    Ok(())
}
