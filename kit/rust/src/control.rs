//! The snapshots, the clock and the faults of a server.

use std::time::Duration;

use http::Request;
use k8s_openapi::jiff::Timestamp;
use kube::Client;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{Error, Server};

const CLOCK: &str = "/testing/clock";
const FAULTS: &str = "/testing/faults";
const SNAPSHOTS: &str = "/testing/snapshots";

/// A rule of a server, and how often its fault has happened.
#[derive(Clone, Debug, Deserialize)]
pub struct FaultState {
    pub id: String,
    pub r#match: Value,
    pub fault: Value,
    pub hits: u64,
}

#[derive(Deserialize)]
struct FaultStates {
    rules: Vec<FaultState>,
}

/// A rule that makes requests fail until it is removed.
pub struct FaultRule {
    client: Client,
    path: String,
}

impl FaultRule {
    /// How often the fault has happened.
    pub async fn hits(&self) -> Result<u64, Error> {
        let state: FaultState = call(&self.client, "GET", &self.path, None).await?;
        Ok(state.hits)
    }

    /// Ends the rule.
    pub async fn remove(self) -> Result<(), Error> {
        call(&self.client, "DELETE", &self.path, None).await.map(|_: Value| ())
    }
}

/// A state of the objects of a server.
pub struct Snapshot {
    client: Client,
    path: String,
}

impl Snapshot {
    /// Gives the server the objects of the snapshot. Watches end with the error 410, and clients list again.
    pub async fn restore(&self) -> Result<(), Error> {
        let path = format!("{}/restore", self.path);
        call(&self.client, "POST", &path, None).await.map(|_: Value| ())
    }

    /// Forgets the snapshot.
    pub async fn delete(self) -> Result<(), Error> {
        call(&self.client, "DELETE", &self.path, None).await.map(|_: Value| ())
    }
}

#[derive(Deserialize)]
struct Clock {
    now: Timestamp,
}

/// Snapshots, faults, and a virtual clock.
impl Server {
    /// Makes requests fail until the rule is removed.
    ///
    /// ```no_run
    /// # use serde_json::json;
    /// # async fn example(server: coxswain_test::Server) -> Result<(), coxswain_test::Error> {
    /// let first = json!({"verb": "update", "resource": "configmaps", "count": 1});
    /// let rule = server.add_fault(&first, &json!({"type": "conflict"})).await?;
    /// // …
    /// assert_eq!(rule.hits().await?, 1);
    /// rule.remove().await
    /// # }
    /// ```
    pub async fn add_fault(&self, r#match: &impl Serialize, fault: &impl Serialize) -> Result<FaultRule, Error> {
        let client = self.client();
        let body = json!({"rules": [{"match": r#match, "fault": fault}]});
        let added: FaultStates = call(&client, "POST", FAULTS, Some(body)).await?;
        let path = format!("{FAULTS}/{}", added.rules[0].id);
        Ok(FaultRule { client, path })
    }

    /// The rules of the server, in the order in which they were added.
    pub async fn faults(&self) -> Result<Vec<FaultState>, Error> {
        let states: FaultStates = call(&self.client(), "GET", FAULTS, None).await?;
        Ok(states.rules)
    }

    /// Takes a snapshot of all objects. A server keeps at most 100.
    pub async fn snapshot(&self) -> Result<Snapshot, Error> {
        let client = self.client();
        let name = self.next_name();
        let _: Value = call(&client, "POST", SNAPSHOTS, Some(json!({"name": name}))).await?;
        Ok(Snapshot { client, path: format!("{SNAPSHOTS}/{name}") })
    }

    /// The time of the server.
    pub async fn now(&self) -> Result<Timestamp, Error> {
        let clock: Clock = call(&self.client(), "GET", CLOCK, None).await?;
        Ok(clock.now)
    }

    /// Moves the time of a server with the flag `--virtual-clock`, by whole milliseconds. At the end, the server
    /// has done what was due until then, such as deleting Events whose time is over. A day takes seconds.
    pub async fn advance(&self, span: Duration) -> Result<(), Error> {
        let body = json!({"advance": span.as_millis() as u64});
        call(&self.client(), "POST", CLOCK, Some(body)).await.map(|_: Value| ())
    }
}

/// Sends a request with a JSON body.
pub async fn call<T: DeserializeOwned>(
    client: &Client,
    method: &str,
    path: &str,
    body: Option<Value>,
) -> Result<T, Error> {
    let bytes = body.map_or_else(Vec::new, |value| value.to_string().into_bytes());
    send(client, method, path, "application/json", bytes).await
}

/// Sends a request.
pub async fn send<T: DeserializeOwned>(
    client: &Client,
    method: &str,
    path: &str,
    media_type: &str,
    body: Vec<u8>,
) -> Result<T, Error> {
    let builder = Request::builder().method(method).uri(path).header("Content-Type", media_type);
    Ok(client.request(builder.body(body).expect("the path and the header are valid")).await?)
}
