//! Tests that print the timeline when they fail by an error.

use crate::timeline::{Mark, print_text};
use crate::{Error, FaultState, Server, start_with};

/// Starts a server and runs a test with it. When the test panics or ends with an error, the timeline is printed to
/// standard error. It is an error when the fault of a rule has not happened that the test has not removed, unless its match
/// has `"optional": true`.
///
/// ```no_run
/// # use kube::Api;
/// # use k8s_openapi::api::core::v1::Namespace;
/// # type Outcome = Result<(), Box<dyn std::error::Error>>;
/// # async fn example() -> Outcome {
/// coxswain_test::run(async |server| {
///     let namespaces: Api<Namespace> = Api::all(server.client());
///     namespaces.get("default").await?;
///     Ok(())
/// })
/// .await
/// # }
/// ```
pub async fn run<E: From<Error>>(test: impl AsyncFnOnce(&Server) -> Result<(), E>) -> Result<(), E> {
    run_with([] as [&str; 0], test).await
}

/// As [`run`], with flags of `coxswain serve`.
pub async fn run_with<E: From<Error>>(
    flags: impl IntoIterator<Item = impl Into<String>>,
    test: impl AsyncFnOnce(&Server) -> Result<(), E>,
) -> Result<(), E> {
    let server = start_with(flags).await?;
    let result = match test(&server).await {
        Ok(()) => check_faults(&server).await.map_err(E::from),
        failed => failed,
    };
    if result.is_err() {
        match server.timeline(Mark::default()).await {
            Ok(text) => print_text(&text),
            Err(error) => eprintln!("no timeline of the server: {error}"),
        }
    }
    result
}

async fn check_faults(server: &Server) -> Result<(), Error> {
    for FaultState { r#match, fault, hits, .. } in server.faults().await? {
        if hits == 0 && r#match["optional"] != true {
            return Err(Error::UnusedFault(fault, r#match));
        }
    }
    Ok(())
}
