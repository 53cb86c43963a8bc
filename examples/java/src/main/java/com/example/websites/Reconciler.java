package com.example.websites;

import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

import io.fabric8.kubernetes.api.model.OwnerReferenceBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;

/** Brings websites closer to their desired state. */
public final class Reconciler {
  private final KubernetesClient client;
  private final Supplier<Instant> now;

  public Reconciler(KubernetesClient client, Supplier<Instant> now) {
    this.client = client;
    this.now = now;
  }

  /**
   * Deletes a website whose lifetime is over. Of others, it applies the Deployment and reports the state.
   *
   * @return the remaining lifetime of a preview
   */
  public Optional<Duration> reconcile(String namespace, String name) {
    var website = client.resources(Website.class).inNamespace(namespace).withName(name).get();
    if (website == null || website.isMarkedForDeletion()) return Optional.empty(); // Garbage collection deletes the Deployment.
    var remaining = remainingTime(website);
    if (remaining.filter(time -> time.compareTo(Duration.ZERO) <= 0).isPresent()) {
      client.resource(website).delete();
      return Optional.empty();
    }
    var desired = client.resource(deploymentOf(website)).fieldManager("website-operator").forceConflicts();
    report(website, desired.serverSideApply());
    return remaining;
  }

  private Optional<Duration> remainingTime(Website website) {
    var hours = website.getSpec().lifetimeHours();
    if (hours == null) return Optional.empty();
    var created = Instant.parse(website.getMetadata().getCreationTimestamp());
    return Optional.of(Duration.between(now.get(), created.plus(Duration.ofHours(hours))));
  }

  private void report(Website website, Deployment deployment) {
    var state = deployment.getStatus();
    var ready = state == null || state.getReadyReplicas() == null ? 0 : state.getReadyReplicas();
    var status = new Website.Status(website.getMetadata().getGeneration(), ready);
    if (status.equals(website.getStatus())) return;
    website.setStatus(status);
    client.resource(website).updateStatus();
  }

  private static Deployment deploymentOf(Website website) {
    var metadata = website.getMetadata();
    var labels = Map.of("website", metadata.getName());
    var owner = new OwnerReferenceBuilder()
        .withApiVersion(website.getApiVersion()).withKind(website.getKind())
        .withName(metadata.getName()).withUid(metadata.getUid()).withController(true).build();
    return new DeploymentBuilder()
        .withNewMetadata().withName(metadata.getName()).withNamespace(metadata.getNamespace())
        .withLabels(labels).withOwnerReferences(owner).endMetadata()
        .withNewSpec().withReplicas(website.getSpec().replicas())
        .withNewSelector().withMatchLabels(labels).endSelector()
        .withNewTemplate().withNewMetadata().withLabels(labels).endMetadata()
        .withNewSpec().addNewContainer().withName("web").withImage(website.getSpec().image()).endContainer().endSpec()
        .endTemplate().endSpec().build();
  }
}
