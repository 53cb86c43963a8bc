//! Installations with a real server and kube-rs.

use coxswain_test::{Error, ManifestError, Manifests};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, PostParams};
use serde_json::json;

type Outcome = Result<(), Box<dyn std::error::Error>>;

#[tokio::test]
async fn a_file_is_installed_until_it_is_removed() -> Outcome {
    coxswain_test::run(async |server| {
        let namespace = server.namespace().await?;
        let manifests = Manifests::read(["tests/testdata/crd.yaml"])?.in_namespace(&namespace);
        let installation = server.install(&manifests).await?;
        let kinds: Vec<_> = installation.objects().iter().map(|object| object.kind.as_str()).collect();
        assert_eq!(kinds, ["CustomResourceDefinition", "Widget"]);
        let widget = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
        let widgets: Api<DynamicObject> = Api::namespaced_with(server.client(), &namespace, &widget);
        assert_eq!(widgets.get("first").await?.data["spec"], json!({"size": 1}));
        installation.remove().await?;
        let gone = widgets.get("first").await.unwrap_err();
        assert!(matches!(gone, kube::Error::Api(status) if status.code == 404));
        Ok(())
    })
    .await
}

#[tokio::test]
async fn objects_that_exist_stay() -> Outcome {
    coxswain_test::run(async |server| {
        let maps: Api<ConfigMap> = Api::default_namespaced(server.client());
        let map: ConfigMap = serde_json::from_value(json!({"metadata": {"name": "a"}}))?;
        maps.create(&PostParams::default(), &map).await?;
        let text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}";
        server.install(&Manifests::from_text(text)).await?.remove().await?;
        assert_eq!(maps.get("a").await?.data.unwrap()["b"], "c");
        Ok(())
    })
    .await
}

#[tokio::test]
async fn errors() -> Outcome {
    assert!(matches!(Manifests::read(["nowhere.yaml"]), Err(ManifestError::Read(..))));
    assert!(matches!(Manifests::read(["src"]), Err(ManifestError::Empty(_))));
    coxswain_test::run(async |server| {
        let unknown = Manifests::from_text("{apiVersion: a/v1, kind: B, metadata: {name: c}}");
        let problem = server.install(&unknown).await.err().expect("it is an error");
        assert!(matches!(&problem, Error::Client(_)) && problem.to_string().contains("no kind B of a/v1"), "{problem}");
        Ok(())
    })
    .await
}
