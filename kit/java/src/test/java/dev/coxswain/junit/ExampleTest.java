package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(CoxswainExtension.class)
class ExampleTest {
  @Test
  void create(KubernetesClient client) {
    client.resource(new ConfigMapBuilder().withNewMetadata().withName("a").endMetadata().build()).create();
    assertEquals("a", client.configMaps().withName("a").get().getMetadata().getName());
  }
}
