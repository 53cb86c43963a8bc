package com.example.websites;

import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponse;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponseBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** The webhook: rejects websites whose image can change. */
public final class ImageReview {
  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  private ImageReview() {}

  public static AdmissionResponse review(AdmissionRequest request) {
    var image = JSON.convertValue(request.getObject(), Website.class).getSpec().image();
    var answer = new AdmissionResponseBuilder().withUid(request.getUid());
    if (hasFixedTag(image)) return answer.withAllowed(true).build();
    var message = "spec.image: " + image + " needs a tag other than latest";
    return answer.withAllowed(false).withStatus(new StatusBuilder().withMessage(message).build()).build();
  }

  private static boolean hasFixedTag(String image) {
    var name = image.substring(image.lastIndexOf('/') + 1);
    return name.contains(":") && !name.endsWith(":latest");
  }
}
