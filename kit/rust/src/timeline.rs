//! The timeline of a server: the requests of all clients, their results, and what they changed.

use std::path::Path;
use std::thread;

use http::Request;
use kube::Client;
use serde::Deserialize;

use crate::{Error, connect};

/// Bytes of a timeline that are printed: the newest.
const PRINTED_MAX: usize = 64 << 10;
/// No timeline is as long, so that the answer has no entries.
const BEYOND_THE_END: u64 = 1 << 49;

/// A position in the timeline of a server.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

#[derive(Deserialize)]
struct End {
    mark: Mark,
}

pub async fn mark(client: &Client) -> Result<Mark, Error> {
    let end: End = client.request(request(Mark(BEYOND_THE_END), "application/json")).await?;
    Ok(end.mark)
}

pub async fn timeline(client: &Client, since: Mark) -> Result<String, Error> {
    Ok(client.request_text(request(since, "text/plain")).await?)
}

fn request(Mark(since): Mark, accept: &str) -> Request<Vec<u8>> {
    let builder = Request::get(format!("/testing/timeline?since={since}")).header("Accept", accept);
    builder.body(Vec::new()).expect("the path and the header are valid")
}

/// Prints the timeline, for a test that panics. The runtime of the test waits for the panic to end, so a
/// thread with a runtime and a client of its own sends the request.
pub fn print(kubeconfig: &Path) {
    let kubeconfig = kubeconfig.to_owned();
    let printed = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let text = runtime.block_on(async { timeline(&connect(&kubeconfig).await?, Mark::default()).await })?;
        print_text(&text);
        Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
    });
    match printed.join() {
        Ok(Ok(())) => {}
        Ok(Err(error)) => eprintln!("no timeline of the server: {error}"),
        Err(_) => eprintln!("no timeline of the server: the request panicked"),
    }
}

/// Prints the newest part of a timeline.
pub fn print_text(text: &str) {
    eprintln!("timeline of the server:\n{}", newest(text));
}

fn newest(text: &str) -> &str {
    let start = text.len().saturating_sub(PRINTED_MAX);
    let boundary = (start..text.len()).find(|&at| text.is_char_boundary(at));
    &text[boundary.unwrap_or(start)..]
}
