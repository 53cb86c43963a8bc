package dev.coxswain.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionResponseBuilder;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReview;
import io.fabric8.kubernetes.api.model.admission.v1.AdmissionReviewBuilder;

/** Answers reviews with a function, over HTTP: the test server forwards its calls. */
final class ReviewServer implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool(ReviewServer::daemon);
  private final Control control;
  private final Review review;

  private ReviewServer(HttpServer server, Control control, Review review) {
    this.server = server;
    this.control = control;
    this.review = review;
  }

  static ReviewServer open(Control control, Review review) {
    try {
      var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      var opened = new ReviewServer(server, control, review);
      server.createContext("/", opened::handle);
      server.setExecutor(opened.threads);
      server.start();
      return opened;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Thread daemon(Runnable run) {
    var thread = new Thread(run, "coxswain-webhook");
    thread.setDaemon(true);
    return thread;
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort());
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
      try {
        send(exchange, 200, "application/json", control.encode(answer(control.decode(body, AdmissionReview.class))));
      } catch (RuntimeException e) { // The function failed: the server reports its message.
        send(exchange, 500, "text/plain", e.toString());
      }
    }
  }

  private AdmissionReview answer(AdmissionReview asked) {
    var response = review.apply(asked.getRequest());
    if (response == null) response = new AdmissionResponseBuilder().withAllowed(true).build();
    response.setUid(asked.getRequest().getUid());
    return new AdmissionReviewBuilder().withResponse(response).build();
  }

  private static void send(HttpExchange exchange, int status, String type, String text) throws IOException {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    exchange.getResponseBody().write(bytes);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
