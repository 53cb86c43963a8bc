package com.example.websites;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.client.CustomResource;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Version;

/** A website that runs in a Deployment of the same name. */
@Group("example.com")
@Version("v1")
public class Website extends CustomResource<Website.Spec, Website.Status> implements Namespaced {
  /**
   * The desired state.
   *
   * @param lifetimeHours of a preview, which is deleted afterwards; without it, the website stays
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Spec(String image, Integer replicas, Integer lifetimeHours) {}

  /** The current state. */
  public record Status(long observedGeneration, int readyReplicas) {}

  @Override
  protected Spec initSpec() {
    return null;
  }

  @Override
  protected Status initStatus() {
    return null;
  }
}
