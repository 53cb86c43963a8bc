package com.example.websites;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import dev.coxswain.junit.CoxswainExtension;
import dev.coxswain.junit.CoxswainServer;
import dev.coxswain.junit.Manifests;
import io.fabric8.kubernetes.api.model.apps.DeploymentStatusBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class WebsiteOperatorTest {
  @RegisterExtension
  static final CoxswainExtension coxswain = CoxswainExtension.withFlags("--virtual-clock");

  @BeforeAll
  static void install(CoxswainServer server) {
    server.install(Manifests.of(Path.of("config/crd.yaml"), Path.of("config/rbac.yaml")));
  }

  /** Runs the controller with the rights of its ServiceAccount, for the websites of a namespace. */
  private record Operator(KubernetesClient client, Controller controller) implements AutoCloseable {
    static Operator start(CoxswainServer server, String namespace) {
      var client = server.newClientAs("website-operator", "operator");
      return new Operator(client, new Controller(client, new Reconciler(client, Instant::now), namespace));
    }

    @Override
    public void close() {
      try (client; controller) {}
    }
  }

  private static Resource<Website> create(KubernetesClient client, String image, Integer lifetimeHours) {
    var website = new Website();
    website.getMetadata().setName("shop");
    website.setSpec(new Website.Spec(image, 2, lifetimeHours));
    client.resource(website).create();
    return client.resources(Website.class).withName("shop");
  }

  @Test
  void aWebsiteRunsInADeployment(CoxswainServer server, KubernetesClient client) {
    try (var operator = Operator.start(server, client.getNamespace())) {
      var website = create(client, "shop:1", null);
      var deployment = client.apps().deployments().withName("shop");
      var created = deployment.waitUntilCondition(found -> found != null, 30, TimeUnit.SECONDS);
      assertEquals(website.get().getMetadata().getUid(), created.getMetadata().getOwnerReferences().get(0).getUid());
      assertEquals(2, created.getSpec().getReplicas());
      // No kubelet runs the pods, so the test writes the status of the Deployment.
      created.setStatus(new DeploymentStatusBuilder().withReplicas(2).withReadyReplicas(2).build());
      client.resource(created).updateStatus();
      var ready = new Website.Status(1, 2);
      website.waitUntilCondition(found -> found != null && ready.equals(found.getStatus()), 30, TimeUnit.SECONDS);
    }
  }

  @Test
  void conflictsOfTheStatusAreTriedAgain(CoxswainServer server, KubernetesClient client) {
    var namespace = client.getNamespace();
    var match = Map.of("verb", "update", "resource", "websites", "subresource", "status", "namespace", namespace, "count", 2);
    var rule = server.addFault(match, Map.of("type", "conflict"));
    try (var operator = Operator.start(server, namespace)) {
      var website = create(client, "shop:1", null);
      website.waitUntilCondition(found -> found != null && found.getStatus() != null, 30, TimeUnit.SECONDS);
      assertEquals(2, rule.hits());
    }
  }

  @Test
  void theWebhookRejectsImagesThatCanChange(CoxswainServer server, KubernetesClient client) {
    server.webhooks(Manifests.of(Path.of("config/webhook.yaml")).inNamespace(client.getNamespace()), ImageReview::review);
    var rejected = assertThrows(KubernetesClientException.class, () -> create(client, "registry:5000/shop:latest", null));
    assertTrue(rejected.getMessage().contains("needs a tag other than latest"), rejected.getMessage());
    create(client, "registry:5000/shop:1", null);
  }

  @Test
  void previewsEnd(CoxswainServer server, KubernetesClient client) {
    var website = create(client, "shop:1", 24);
    var reconciler = new Reconciler(client, server::now);
    server.advance(Duration.ofHours(23));
    reconciler.reconcile(client.getNamespace(), "shop");
    assertNotNull(website.get());
    server.advance(Duration.ofHours(1));
    reconciler.reconcile(client.getNamespace(), "shop");
    assertNull(website.get());
  }
}
