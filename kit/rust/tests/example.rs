use k8s_openapi::api::core::v1::ConfigMap;
use kube::Api;
use kube::api::{ObjectMeta, PostParams};

#[tokio::test]
async fn create() -> Result<(), Box<dyn std::error::Error>> {
    coxswain_test::run(async |server| {
        let maps: Api<ConfigMap> = Api::namespaced(server.client(), &server.namespace().await?);
        let metadata = ObjectMeta { name: Some("a".into()), ..ObjectMeta::default() };
        maps.create(&PostParams::default(), &ConfigMap { metadata, ..ConfigMap::default() }).await?;
        assert!(maps.get("a").await?.data.is_none());
        Ok(())
    })
    .await
}
