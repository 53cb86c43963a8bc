//! Answers reviews with a function, over HTTP: the test server forwards its calls.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const REVIEW_BYTES_MAX: usize = 16 << 20;

/// Answers a review in JSON.
pub type Answer = Arc<dyn Fn(&[u8]) -> Result<Vec<u8>, String> + Send + Sync>;

/// A listener, until it is dropped.
pub struct Serving {
    url: String,
    accepting: JoinHandle<()>,
}

impl Serving {
    pub async fn start(answer: Answer) -> io::Result<Serving> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let accepting = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let answer = answer.clone();
                let service = service_fn(move |request| respond(request, answer.clone()));
                tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(connection), service));
            }
        });
        Ok(Serving { url, accepting })
    }

    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn respond(request: Request<Incoming>, answer: Answer) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = match answered(request, answer).await {
        Ok(body) => (StatusCode::OK, body),
        Err(problem) => (StatusCode::BAD_REQUEST, problem.into_bytes()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    Ok(response)
}

async fn answered(request: Request<Incoming>, answer: Answer) -> Result<Vec<u8>, String> {
    let body = Limited::new(request.into_body(), REVIEW_BYTES_MAX).collect().await;
    answer(&body.map_err(|error| error.to_string())?.to_bytes())
}
