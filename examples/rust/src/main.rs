//! Runs the controller in a cluster. The webhook is served by the HTTP framework of the operator.

#[tokio::main]
async fn main() -> Result<(), kube::Error> {
    let client = kube::Client::try_default().await?;
    let namespace = client.default_namespace().to_owned();
    websites::controller::run(client, &namespace).await;
    Ok(())
}
