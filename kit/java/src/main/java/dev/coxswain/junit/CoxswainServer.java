package dev.coxswain.junit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.InterruptedIOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;

/**
 * A Kubernetes API server in memory: a process of the program {@code coxswain}. It ends when it is
 * closed, and with the JVM, even if that is killed: it serves until its standard input closes.
 */
public final class CoxswainServer implements AutoCloseable {
  private static final long CLOSE_SECONDS_MAX = 10;
  private static final long REQUEST_SECONDS_MAX = 30;
  /** No timeline is as long, so that the answer has no entries. */
  private static final String MARK_PATH = "/testing/timeline?since=" + (1L << 49);

  /** The line that the program prints when the server is ready. */
  private record Announcement(String url, String kubeconfig, long pid) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  private record TimelineEnd(long mark) {}

  private final Process process;
  private final URI url;
  private final Path kubeconfig;

  private CoxswainServer(Process process, URI url, Path kubeconfig) {
    this.process = process;
    this.url = url;
    this.kubeconfig = kubeconfig;
  }

  /**
   * Starts a server and waits until it is ready.
   *
   * @param flags flags of {@code coxswain serve}, such as {@code --authorization-mode=AlwaysAllow}
   * @throws UncheckedIOException if there is no program, or the server cannot start; its own message
   *     is on standard error
   */
  public static CoxswainServer start(List<String> flags) {
    var command = new ArrayList<>(List.of(program(), "test", "--until-stdin-closes"));
    command.addAll(flags);
    try {
      var process = new ProcessBuilder(command).redirectError(Redirect.INHERIT).start();
      return announced(process);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The server prints one line when it is ready, and none if it cannot start. */
  private static CoxswainServer announced(Process process) throws IOException {
    var output = new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
    var line = output.readLine();
    if (line == null) throw new IOException("coxswain ended before it was ready; standard error has its message");
    var server = new KubernetesSerialization().unmarshal(line, Announcement.class);
    return new CoxswainServer(process, URI.create(server.url()), Path.of(server.kubeconfig()));
  }

  /** The system property {@code coxswain}, else the environment variable COXSWAIN, else the program in PATH. */
  private static String program() {
    return System.getProperty("coxswain", System.getenv().getOrDefault("COXSWAIN", "coxswain"));
  }

  /** The URL of the server, with a port that was free. */
  public URI url() {
    return url;
  }

  /** The path of a kubeconfig whose user is in system:masters, for programs that a test runs. */
  public Path kubeconfig() {
    return kubeconfig;
  }

  /** The configuration of a client whose requests without a namespace are made in this one. */
  public Config config(String namespace) {
    return new ConfigBuilder(Config.fromKubeconfig(kubeconfig.toFile())).withNamespace(namespace).build();
  }

  /** A new client, which the caller closes, whose requests without a namespace are made in this one. */
  public KubernetesClient newClient(String namespace) {
    return new KubernetesClientBuilder().withConfig(config(namespace)).build();
  }

  /** A position in the timeline: the current end. */
  public long mark() {
    return new KubernetesSerialization().unmarshal(read(MARK_PATH, "application/json"), TimelineEnd.class).mark();
  }

  /**
   * The requests of all clients since a position, as text, with their results and what they changed; since 0 all that
   * the server has kept. Values of Secrets are not part of it.
   */
  public String timeline(long since) {
    return read("/testing/timeline?since=" + since, "text/plain");
  }

  private String read(String path, String accept) {
    try (var client = newClient("default")) {
      var http = client.getHttpClient();
      var request = http.newHttpRequestBuilder().uri(url + path).header("Accept", accept).build();
      var response = http.sendAsync(request, String.class).get(REQUEST_SECONDS_MAX, TimeUnit.SECONDS);
      if (!response.isSuccessful()) throw new IOException("GET " + path + ": " + response.body());
      return response.body();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (ExecutionException | TimeoutException e) {
      throw new UncheckedIOException(new IOException("GET " + path, e));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new UncheckedIOException(new InterruptedIOException("GET " + path));
    }
  }

  /** Ends the server. Clients can no longer reach it. */
  @Override
  public void close() {
    try {
      process.getOutputStream().close();
      if (!process.waitFor(CLOSE_SECONDS_MAX, TimeUnit.SECONDS)) process.destroyForcibly();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
