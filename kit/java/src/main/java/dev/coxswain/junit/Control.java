package dev.coxswain.junit;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** Sends requests to the control paths of a server, with one client. */
final class Control implements AutoCloseable {
  /** A clock that advances far takes long. */
  private static final long REQUEST_MINUTES_MAX = 10;

  private final CoxswainServer server;
  private final KubernetesSerialization json = new KubernetesSerialization();
  private KubernetesClient client;

  Control(CoxswainServer server) {
    this.server = server;
  }

  /** As JSON. */
  String encode(Object value) {
    return json.asJson(value);
  }

  <T> T decode(String text, Class<T> type) {
    return json.unmarshal(text, type);
  }

  /** The objects of a YAML stream. */
  List<HasMetadata> load(String stream) {
    return client().load(new ByteArrayInputStream(stream.getBytes(StandardCharsets.UTF_8))).items();
  }

  /** Decodes the answer. */
  <T> T call(String method, String path, Object body, Class<T> type) {
    return json.unmarshal(send(method, path, body, "application/json"), type);
  }

  /**
   * Sends a request.
   *
   * @param body sent as JSON; null for none
   * @throws UncheckedIOException if the server rejects the request or does not answer
   */
  String send(String method, String path, Object body, String accept) {
    return send(method, path, body == null ? "" : json.asJson(body), "application/json", accept);
  }

  /** Sends a request with a text. */
  String send(String method, String path, String body, String mediaType, String accept) {
    try {
      return request(method, path, body, mediaType, accept);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new UncheckedIOException(new IOException(method + " " + path, e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new InterruptedIOException(method + " " + path));
    }
  }

  private String request(String method, String path, String body, String mediaType, String accept)
      throws IOException, ExecutionException, TimeoutException, InterruptedException {
    var http = client().getHttpClient();
    var request = http.newHttpRequestBuilder().uri(URI.create(server.url() + path)).header("Accept", accept);
    if (!method.equals("GET")) request.method(method, mediaType, body);
    var response = http.sendAsync(request.build(), String.class).get(REQUEST_MINUTES_MAX, TimeUnit.MINUTES);
    if (!response.isSuccessful()) throw new IOException(method + " " + path + ": " + response.body());
    return response.body();
  }

  /** An error is one of the test, so nothing is sent again. */
  private synchronized KubernetesClient client() {
    if (client == null) {
      var config = new ConfigBuilder(server.config("default")).withRequestRetryBackoffLimit(0).build();
      client = new KubernetesClientBuilder().withConfig(config).build();
    }
    return client;
  }

  @Override
  public synchronized void close() {
    if (client != null) client.close();
  }
}
