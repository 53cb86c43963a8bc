package dev.coxswain.junit;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/** Sends requests to the control paths of a server. */
final class Control {
  /** A clock that advances far takes long. */
  private static final long REQUEST_MINUTES_MAX = 10;

  private final CoxswainServer server;
  private final KubernetesSerialization json = new KubernetesSerialization();

  Control(CoxswainServer server) {
    this.server = server;
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
    try (var client = server.newClient("default")) {
      return send(client, method, path, body, accept);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new UncheckedIOException(new IOException(method + " " + path, e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new InterruptedIOException(method + " " + path));
    }
  }

  private String send(KubernetesClient client, String method, String path, Object body, String accept)
      throws IOException, ExecutionException, TimeoutException, InterruptedException {
    var http = client.getHttpClient();
    var text = body == null ? "" : json.asJson(body);
    var request = http.newHttpRequestBuilder().uri(URI.create(server.url() + path)).header("Accept", accept);
    if (!method.equals("GET")) request.method(method, "application/json", text);
    var response = http.sendAsync(request.build(), String.class).get(REQUEST_MINUTES_MAX, TimeUnit.MINUTES);
    if (!response.isSuccessful()) throw new IOException(method + " " + path + ": " + response.body());
    return response.body();
  }
}
