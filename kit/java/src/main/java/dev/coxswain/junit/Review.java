package dev.coxswain.junit;

import java.util.function.Function;

import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponse;

/** Answers the request of an AdmissionReview. Null allows it. The uid of the answer is set by the kit. */
@FunctionalInterface
public interface Review extends Function<AdmissionRequest, AdmissionResponse> {}
