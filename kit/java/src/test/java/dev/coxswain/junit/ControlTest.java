package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.EventBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ControlTest {
  @RegisterExtension
  static final CoxswainExtension coxswain = CoxswainExtension.withFlags("--virtual-clock");

  private static void create(KubernetesClient client) {
    client.resource(new ConfigMapBuilder().withNewMetadata().withName("a").endMetadata().build()).create();
  }

  @Test
  void aSnapshotIsRestored(CoxswainServer server, KubernetesClient client) {
    try (var prepared = server.snapshot()) {
      for (var times = 0; times < 2; times++) {
        create(client);
        prepared.restore();
        assertNull(client.configMaps().withName("a").get());
      }
    }
  }

  @Test
  void aListFailsOnce(CoxswainServer server, KubernetesClient client) {
    create(client);
    Map<String, Object> match = Map.of("verb", "list", "namespace", client.getNamespace(), "count", 1);
    try (var rule = server.addFault(match, Map.of("type", "gone"))) {
      var error = assertThrows(KubernetesClientException.class, () -> client.configMaps().list());
      assertEquals(410, error.getCode());
      assertEquals(1, client.configMaps().withField("metadata.name", "a").list().getItems().size());
      assertEquals(1, rule.hits());
      assertEquals(List.of(match), server.faults().stream().map(FaultState::match).toList());
    }
    assertEquals(List.of(), server.faults());
    assertThrows(UncheckedIOException.class, () -> server.addFault(Map.of(), Map.of("type", "none")));
  }

  @Test
  void eventsAreGoneAfterAnHour(CoxswainServer server, KubernetesClient client) {
    var event = new EventBuilder().withNewMetadata().withName("a").endMetadata();
    var involved = event.withNewInvolvedObject().withKind("ConfigMap").withName("b").withNamespace(client.getNamespace());
    client.resource(involved.endInvolvedObject().build()).create();
    var before = server.now();
    server.advance(Duration.ofHours(1));
    assertEquals(Duration.ofHours(1), Duration.between(before, server.now()));
    assertNull(client.v1().events().withName("a").get());
  }

  @Test
  void theRealClockDoesNotAdvance() {
    try (var server = CoxswainServer.start(List.of())) {
      assertThrows(UncheckedIOException.class, () -> server.advance(Duration.ofSeconds(1)));
    }
  }
}
