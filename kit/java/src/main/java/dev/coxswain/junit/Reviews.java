package dev.coxswain.junit;

import java.util.List;

import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.Status;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponseBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReview;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReviewBuilder;

/** Answers reviews in JSON with functions. */
final class Reviews {
  private Reviews() {}

  static String admission(Control control, String text, Review review) {
    var asked = control.decode(text, AdmissionReview.class);
    var response = review.apply(asked.getRequest());
    if (response == null) response = new AdmissionResponseBuilder().withAllowed(true).build();
    response.setUid(asked.getRequest().getUid());
    return control.encode(new AdmissionReviewBuilder().withResponse(response).build());
  }

  private record ConversionReview(String apiVersion, String kind, Request request, Response response) {}

  private record Request(String uid, String desiredAPIVersion, List<GenericKubernetesResource> objects) {}

  private record Response(String uid, List<GenericKubernetesResource> convertedObjects, Status result) {}

  static String conversion(Control control, String text, Conversion conversion) {
    var asked = control.decode(text, ConversionReview.class);
    return control.encode(new ConversionReview(asked.apiVersion, asked.kind, null, convert(asked.request, conversion)));
  }

  private static Response convert(Request request, Conversion conversion) {
    var version = request.desiredAPIVersion;
    try {
      var converted = request.objects.stream().map(object -> conversion.apply(object, version)).toList();
      converted.forEach(object -> object.setApiVersion(version));
      return new Response(request.uid, converted, new StatusBuilder().withStatus("Success").build());
    } catch (RuntimeException e) { // The function failed: the client reads its message.
      var failure = new StatusBuilder().withStatus("Failure").withMessage(e.toString()).build();
      return new Response(request.uid, List.of(), failure);
    }
  }
}
