//! The webhook: rejects websites whose image can change.

use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse};

/// Answers a review.
pub fn review(request: AdmissionRequest<DynamicObject>) -> AdmissionResponse {
    let response = AdmissionResponse::from(&request);
    let object = request.object.as_ref();
    let image = object.and_then(|object| object.data["spec"]["image"].as_str()).unwrap_or_default();
    if has_fixed_tag(image) {
        response
    } else {
        response.deny(format!("spec.image: {image} needs a tag other than latest"))
    }
}

fn has_fixed_tag(image: &str) -> bool {
    let name = image.rsplit('/').next().unwrap_or_default();
    name.split_once(':').is_some_and(|(_, tag)| tag != "latest")
}
