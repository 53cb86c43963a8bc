package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.UncheckedIOException;
import java.util.List;

import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class CoxswainFlagsTest {
  @RegisterExtension
  static final CoxswainExtension coxswain = CoxswainExtension.withFlags("--runtime-config=batch/v1=false");

  @Test
  void theServerHasTheFlags(KubernetesClient client) {
    assertEquals(List.of(), client.getApiGroups().getGroups().stream().filter(group -> group.getName().equals("batch")).toList());
  }

  @Test
  void aServerCanBeStartedAndClosedByATest(CoxswainServer shared) throws Exception {
    try (var server = CoxswainServer.start(List.of())) {
      assertNotEquals(shared.url(), server.url());
      try (var client = server.newClient("default")) {
        assertEquals("default", client.namespaces().withName("default").get().getMetadata().getName());
      }
    }
  }

  @Test
  void aServerThatCannotStartIsAnError() {
    var error = assertThrows(UncheckedIOException.class, () -> CoxswainServer.start(List.of("--no-such-flag")));
    assertEquals("coxswain ended before it was ready; standard error has its message", error.getCause().getMessage());
  }
}
