package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(CoxswainExtension.class)
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class InstallTest {
  private static final Path DATA = Path.of("src/test/resources");

  private static List<String> definitions(KubernetesClient client) {
    var items = client.apiextensions().v1().customResourceDefinitions().list().getItems();
    return items.stream().map(item -> item.getMetadata().getName()).toList();
  }

  private static GenericKubernetesResource firstWidget(KubernetesClient client) {
    var widgets = new ResourceDefinitionContext.Builder()
        .withGroup("example.com").withVersion("v1").withKind("Widget").withPlural("widgets").withNamespaced(true).build();
    return client.genericKubernetesResources(widgets).withName("first").get();
  }

  @Test
  @Order(1)
  void aFileIsInstalledUntilTheTestEnds(CoxswainServer server, KubernetesClient client) {
    var manifests = Manifests.of(DATA.resolve("crd.yaml")).inNamespace(client.getNamespace());
    var kinds = server.install(manifests).objects().stream().map(InstalledObject::kind).toList();
    assertEquals(List.of("CustomResourceDefinition", "Widget"), kinds);
    assertNotNull(firstWidget(client));
  }

  @Test
  @Order(2)
  void theInstallationOfAnEarlierTestIsGone(KubernetesClient client) {
    assertEquals(List.of(), definitions(client));
  }

  @Test
  void objectsThatExistStay(CoxswainServer server, KubernetesClient client) {
    client.resource(new ConfigMapBuilder().withNewMetadata().withName("a").endMetadata().build()).create();
    var text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, data: {b: c}}";
    var installation = server.install(Manifests.ofText(text).inNamespace(client.getNamespace()));
    installation.close();
    installation.close();
    assertEquals(Map.of("b", "c"), client.configMaps().withName("a").get().getData());
    assertNull(client.configMaps().withName("b").get());
  }

  private static void assertFails(String message, Runnable run) {
    var error = assertThrows(UncheckedIOException.class, run::run);
    assertTrue(error.getMessage().contains(message), error.getMessage());
  }

  @Test
  void errors(CoxswainServer server, @TempDir Path empty) {
    assertFails("nowhere.yaml", () -> Manifests.of(Path.of("nowhere.yaml")));
    assertFails("has no .yaml, .yml or .json file", () -> Manifests.of(empty));
    var unknown = Manifests.ofText("{apiVersion: a/v1, kind: B, metadata: {name: c}}");
    assertFails("no kind B of a/v1", () -> server.install(unknown));
  }
}
