//! Answers reviews in JSON with functions.

use std::fmt::Display;

use kube::core::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionResponse, AdmissionReview};
use kube::core::conversion::{ConversionRequest, ConversionResponse, ConversionReview};

pub fn admission(
    text: &[u8],
    review: &impl Fn(AdmissionRequest<DynamicObject>) -> AdmissionResponse,
) -> Result<Vec<u8>, String> {
    let asked: AdmissionReview<DynamicObject> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let request = asked.try_into().map_err(|_| "the review has no request")?;
    Ok(serde_json::to_vec(&review(request).into_review()).expect("a review is valid JSON"))
}

pub fn conversion<E: Display>(
    text: &[u8],
    convert: &impl Fn(DynamicObject, &str) -> Result<DynamicObject, E>,
) -> Result<Vec<u8>, String> {
    let asked: ConversionReview = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let mut request = ConversionRequest::from_review(asked).map_err(|_| "the review has no request")?;
    let objects = std::mem::take(&mut request.objects);
    let converted: Result<Vec<_>, String> =
        objects.into_iter().map(|object| converted(object, &request.desired_api_version, convert)).collect();
    let response = ConversionResponse::for_request(request);
    let response = match converted {
        Ok(objects) => response.success(objects),
        Err(message) => response.failure(kube::core::Status::failure(&message, "")),
    };
    Ok(serde_json::to_vec(&response.into_review()).expect("a review is valid JSON"))
}

fn converted<E: Display>(
    object: serde_json::Value,
    version: &str,
    convert: &impl Fn(DynamicObject, &str) -> Result<DynamicObject, E>,
) -> Result<serde_json::Value, String> {
    let object = serde_json::from_value(object).map_err(|error| error.to_string())?;
    let converted = convert(object, version).map_err(|error| error.to_string())?;
    let mut value = serde_json::to_value(converted).map_err(|error| error.to_string())?;
    value["apiVersion"] = version.into();
    Ok(value)
}
