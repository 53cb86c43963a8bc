package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.util.concurrent.TimeUnit;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(CoxswainExtension.class)
class CoxswainExtensionTest {
  private static CoxswainServer first;

  @BeforeAll
  static void remember(CoxswainServer server, KubernetesClient client) {
    first = server;
    assertEquals("default", client.getNamespace());
  }

  private static ConfigMap configMap(String name) {
    return new ConfigMapBuilder().withNewMetadata().withName(name).endMetadata().addToData("a", "1").build();
  }

  @RepeatedTest(2)
  void testsHaveNamespacesOfTheirOwn(KubernetesClient client) {
    assertNotEquals("default", client.getNamespace());
    assertNull(client.configMaps().withName("mine").get());
    client.resource(configMap("mine")).create();
  }

  @Test
  void parametersOfOneTestShareAClientAndTheServer(KubernetesClient one, KubernetesClient two, CoxswainServer server) {
    assertEquals(one, two);
    assertEquals(first, server);
  }

  @Test
  void theApiRejectsWhatKubernetesRejects(KubernetesClient client) {
    var error = assertThrows(KubernetesClientException.class, () -> client.resource(configMap("Not_a_name")).create());
    assertEquals(422, error.getCode());
  }

  @Test
  void informersSeeChanges(KubernetesClient client) {
    try (var informer = client.configMaps().inNamespace(client.getNamespace()).inform()) {
      client.resource(configMap("watched")).create();
      client.configMaps().withName("watched").waitUntilCondition(found -> found != null, 10, TimeUnit.SECONDS);
      assertTrue(informer.isWatching());
    }
  }

  @Test
  void theKubeconfigIsPrivate(CoxswainServer server) throws Exception {
    assertEquals("rw-------", java.nio.file.attribute.PosixFilePermissions.toString(
        Files.getPosixFilePermissions(server.kubeconfig())));
    assertTrue(Files.readString(server.kubeconfig()).contains(server.url().toString()));
  }
}
