package dev.coxswain.junit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.UnaryOperator;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;

/** Answers reviews with a function, over HTTP: the test server forwards its calls. */
final class ReviewServer implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool(ReviewServer::daemon);
  private final UnaryOperator<String> answer;

  private ReviewServer(HttpServer server, UnaryOperator<String> answer) {
    this.server = server;
    this.answer = answer;
  }

  /** @param answer of a review, both in JSON */
  static ReviewServer open(UnaryOperator<String> answer) {
    try {
      var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      var opened = new ReviewServer(server, answer);
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
        send(exchange, 200, "application/json", answer.apply(body));
      } catch (RuntimeException e) { // The function failed: the server reports its message.
        send(exchange, 500, "text/plain", e.toString());
      }
    }
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
