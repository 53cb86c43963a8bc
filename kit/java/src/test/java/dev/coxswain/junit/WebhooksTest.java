package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.StatusBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionRequest;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponse;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponseBuilder;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(CoxswainExtension.class)
class WebhooksTest {
  private static final Manifests MANIFESTS = Manifests.of(Path.of("src/test/resources"));

  private static AdmissionResponse rejectBad(AdmissionRequest request) {
    if (!request.getName().equals("bad")) return null;
    var status = new StatusBuilder().withMessage("not good").build();
    return new AdmissionResponseBuilder().withAllowed(false).withStatus(status).build();
  }

  private static void create(KubernetesClient client, String name) {
    client.resource(new ConfigMapBuilder().withNewMetadata().withName(name).endMetadata().build()).create();
  }

  private static void assertRejected(String message, KubernetesClient client, String name) {
    var error = assertThrows(KubernetesClientException.class, () -> create(client, name));
    assertTrue(error.getMessage().contains(message), error.getMessage());
  }

  @Test
  void aFunctionValidates(CoxswainServer server, KubernetesClient client) {
    Map<String, ?> spec = Map.of("rules", List.of(Map.of("resources", List.of("configmaps"))), "namespace", client.getNamespace());
    try (var webhook = server.webhook(Map.of("validating", spec), WebhooksTest::rejectBad)) {
      create(client, "good");
      assertRejected("not good", client, "bad");
    }
    create(client, "bad");
  }

  @Test
  void aFunctionHasTheWebhookOfAManifest(CoxswainServer server, KubernetesClient client) {
    server.webhooks(MANIFESTS.inNamespace(client.getNamespace()), WebhooksTest::rejectBad);
    create(client, "good");
    assertRejected("admission webhook \"names.example.com\" denied the request: not good", client, "bad");
  }

  @Test
  void theErrorOfAFunctionIsReported(CoxswainServer server, KubernetesClient client) {
    server.webhooks(MANIFESTS.inNamespace(client.getNamespace()), request -> {
      throw new IllegalStateException("of " + request.getName());
    });
    // The client of fabric8 sends a request again after an error of the server.
    var config = new ConfigBuilder(client.getConfiguration()).withRequestRetryBackoffLimit(0).build();
    try (var once = new KubernetesClientBuilder().withConfig(config).build()) {
      assertRejected("java.lang.IllegalStateException: of good", once, "good");
    }
  }

  @Test
  void aServerHasTheWebhooksOfAManifest(CoxswainServer server, KubernetesClient client) throws Exception {
    var http = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
    http.createContext("/validate", exchange -> {
      try (exchange) {
        var uid = Pattern.compile("\"uid\":\"([^\"]+)\"").matcher(new String(exchange.getRequestBody().readAllBytes()));
        assertTrue(uid.find());
        var answer = """
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": {"uid": "%s", "allowed": false}}""";
        var json = answer.formatted(uid.group(1));
        exchange.sendResponseHeaders(200, json.length());
        exchange.getResponseBody().write(json.getBytes());
      }
    });
    http.start();
    try (var webhooks = server.webhooks(MANIFESTS.inNamespace(client.getNamespace()),
        URI.create("http://127.0.0.1:" + http.getAddress().getPort()))) {
      assertRejected("names.example.com", client, "a");
    } finally {
      http.stop(0);
    }
  }

  @Test
  void aFunctionConverts(CoxswainServer server, KubernetesClient client) {
    server.install(Manifests.of(Path.of("src/test/resources/gauges.yaml")).inNamespace(client.getNamespace()));
    var gauges = client.genericKubernetesResources("example.com/v2", "Gauge");
    try (var conversion = server.conversion("gauges.example.com", (gauge, version) -> {
      int meters = gauge.get("spec", "meters");
      if (version.equals("example.com/v2")) gauge.setAdditionalProperty("spec", Map.of("centimeters", meters * 100));
      return gauge;
    })) {
      assertEquals(300, (int) gauges.withName("a").get().get("spec", "centimeters"));
    }
    server.conversion("gauges.example.com", (gauge, version) -> {
      throw new IllegalStateException("no height");
    });
    var config = new ConfigBuilder(client.getConfiguration()).withRequestRetryBackoffLimit(0).build();
    try (var once = new KubernetesClientBuilder().withConfig(config).build()) {
      var read = once.genericKubernetesResources("example.com/v2", "Gauge").withName("a");
      var error = assertThrows(KubernetesClientException.class, read::get);
      assertTrue(error.getMessage().contains("IllegalStateException: no height"), error.getMessage());
    }
  }

  @Test
  void certificatesArePrivate(CoxswainServer server, @TempDir Path directory) throws Exception {
    var serving = server.webhookServing(directory);
    assertTrue(Files.readString(serving.certificate()).startsWith("-----BEGIN CERTIFICATE-----"));
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(serving.key())));
    assertEquals("https://127.0.0.1:" + serving.port(), serving.url().toString());
  }

  @Test
  void errors(CoxswainServer server) {
    var none = Manifests.of(Path.of("src/test/resources/crd.yaml"));
    assertThrows(IllegalArgumentException.class, () -> server.webhooks(none, WebhooksTest::rejectBad));
    assertThrows(IllegalArgumentException.class,
        () -> server.webhook(Map.of("conversion", Map.of("definition", "a.b.c")), WebhooksTest::rejectBad));
  }
}
