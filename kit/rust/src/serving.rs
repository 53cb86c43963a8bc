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
use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

const REVIEW_BYTES_MAX: usize = 16 << 20;

pub type Review = Arc<dyn Fn(AdmissionRequest<DynamicObject>) -> AdmissionResponse + Send + Sync>;

/// A listener, until it is dropped.
pub struct Serving {
    url: String,
    accepting: JoinHandle<()>,
}

impl Serving {
    pub async fn start(review: Review) -> io::Result<Serving> {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
        let url = format!("http://{}", listener.local_addr()?);
        let accepting = tokio::spawn(async move {
            while let Ok((connection, _)) = listener.accept().await {
                let review = review.clone();
                let service = service_fn(move |request| answer(request, review.clone()));
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

async fn answer(request: Request<Incoming>, review: Review) -> Result<Response<Full<Bytes>>, Infallible> {
    let (status, body) = match reviewed(request, review).await {
        Ok(body) => (StatusCode::OK, body),
        Err(problem) => (StatusCode::BAD_REQUEST, problem.into_bytes()),
    };
    let mut response = Response::new(Full::new(Bytes::from(body)));
    *response.status_mut() = status;
    Ok(response)
}

async fn reviewed(request: Request<Incoming>, review: Review) -> Result<Vec<u8>, String> {
    let body = Limited::new(request.into_body(), REVIEW_BYTES_MAX).collect().await;
    let bytes = body.map_err(|error| error.to_string())?.to_bytes();
    let asked: AdmissionReview<DynamicObject> = serde_json::from_slice(&bytes).map_err(|error| error.to_string())?;
    let request = asked.try_into().map_err(|_| "the review has no request")?;
    Ok(serde_json::to_vec(&review(request).into_review()).expect("a review is valid JSON"))
}
