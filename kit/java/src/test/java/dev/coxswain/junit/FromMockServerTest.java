package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** The habits of a user of fabric8's mock server. */
@ExtendWith(CoxswainExtension.class)
class FromMockServerTest {
  private static ConfigMapBuilder map(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).endMetadata();
  }

  @Test
  void anObjectInsteadOfAnExpectation(KubernetesClient client) {
    // server.expect().get().withPath("…/configmaps/a").andReturn(200, a).once();
    client.resource(map("a").addToData("size", "L").build()).create();
    assertEquals("L", client.configMaps().withName("a").get().getData().get("size"));
  }

  @Test
  void aFaultInsteadOfAnErrorAnswer(CoxswainServer server, KubernetesClient client) {
    // server.expect().get().withPath("…/configmaps").andReturn(500, null).once();
    Map<String, Object> match = Map.of("verb", "list", "namespace", client.getNamespace(), "count", 1);
    try (var rule = server.addFault(match, Map.of("type", "internalError"))) {
      client.configMaps().list(); // The client of fabric8 tries again by itself.
      assertEquals(1, rule.hits());
    }
  }

  @Test
  void theTimelineInsteadOfTheLastRequest(CoxswainServer server, KubernetesClient client) {
    var since = server.mark();
    client.resource(map("a").build()).create();
    // server.getLastRequest().getMethod()
    assertTrue(server.timeline(since).contains("create configmaps " + client.getNamespace()));
  }

  @Test
  void rulesThatTheMockServerDoesNotHave(KubernetesClient client) {
    var invalid = map("a").editMetadata().addToLabels("title", "The blue shop!").endMetadata().build();
    var error = assertThrows(KubernetesClientException.class, () -> client.resource(invalid).create());
    assertEquals(422, error.getCode());
  }
}
