package dev.coxswain.junit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

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
  private static final String CLOCK = "/testing/clock";
  private static final String FAULTS = "/testing/faults";
  private static final String SNAPSHOTS = "/testing/snapshots";
  private static final String JSON = "application/json";
  /** No timeline is as long, so that the answer has no entries. */
  private static final String MARK_PATH = "/testing/timeline?since=" + (1L << 49);

  /** The line that the program prints when the server is ready. */
  private record Announcement(String url, String kubeconfig, long pid) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  private record TimelineEnd(long mark) {}

  private record FaultStates(List<FaultState> rules) {}

  @JsonIgnoreProperties(ignoreUnknown = true)
  private record Clock(String now) {}

  private final Process process;
  private final URI url;
  private final Path kubeconfig;
  private final Control control = new Control(this);
  private final Scopes scopes = new Scopes();
  /** How many were taken, for their names. */
  private final AtomicInteger snapshots = new AtomicInteger();

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

  /**
   * A new client, which the caller closes, that sends a token of a ServiceAccount, which is created unless it exists. The
   * account has the rights that roles of the server grant to it, and no others. The token expires an hour later, by the
   * time of the server. Requests without a namespace are made in that of the account.
   *
   * @throws UncheckedIOException if there is no such namespace
   */
  public KubernetesClient newClientAs(String namespace, String serviceAccount) {
    var admin = config(namespace);
    var own = new ConfigBuilder(Config.empty()).withMasterUrl(url.toString()).withNamespace(namespace);
    own.withCaCertData(admin.getCaCertData()).withCaCertFile(admin.getCaCertFile());
    own.withOauthToken(Accounts.tokenOf(control, namespace, serviceAccount));
    return new KubernetesClientBuilder().withConfig(own.build()).build();
  }

  /** A position in the timeline: the current end. */
  public long mark() {
    return control.call("GET", MARK_PATH, null, TimelineEnd.class).mark();
  }

  /**
   * The requests of all clients since a position, as text, with their results and what they changed; since 0 all that
   * the server has kept. Values of Secrets are not part of it.
   */
  public String timeline(long since) {
    return control.send("GET", "/testing/timeline?since=" + since, null, "text/plain");
  }

  /**
   * Makes requests fail until the rule is closed, or the test of {@link CoxswainExtension} ends that has added it. A rule
   * that a {@code @BeforeAll} method has added ends with the class. A test fails that ends before the fault has happened,
   * unless the match has {@code "optional", true}.
   *
   * @param match which requests, such as {@code Map.of("verb", "update", "count", 1)}
   * @param fault what happens to them, such as {@code Map.of("type", "conflict")}
   * @throws UncheckedIOException if the server rejects the rule
   */
  public FaultRule addFault(Map<String, ?> match, Map<String, ?> fault) {
    var body = Map.of("rules", List.of(Map.of("match", match, "fault", fault)));
    var added = control.call("POST", FAULTS, body, FaultStates.class).rules().get(0);
    return new FaultRule(control, FAULTS + "/" + added.id(), scopes);
  }

  /** The rules of the server, in the order in which they were added. */
  public List<FaultState> faults() {
    return control.call("GET", FAULTS, null, FaultStates.class).rules();
  }

  /**
   * Installs objects until the installation is closed, or the test of {@link CoxswainExtension} ends: definitions of custom
   * resources first, whose kinds are then served, then namespaces, then the others. An object that exists is changed as by a
   * forced server-side apply. All objects are installed or none. Configurations of webhooks are for {@link #webhooks}.
   *
   * @throws UncheckedIOException if the server rejects an object
   */
  public Installation install(Manifests manifests) {
    return Installation.open(control, scopes, manifests);
  }

  /**
   * Makes a function a webhook until it is closed, or the test of {@link CoxswainExtension} ends.
   *
   * @param spec such as {@code Map.of("validating", Map.of("rules", List.of(Map.of("resources", List.of("pods")))))}
   * @throws UncheckedIOException if the server rejects it
   */
  public Webhook webhook(Map<String, ?> spec, Review review) {
    return Webhook.open(control, scopes, List.of(new WebhookSpecs.Spec(spec, "")), review);
  }

  /** Makes the server call a URL, as {@link #webhook(Map, Review)} does. */
  public Webhook webhook(Map<String, ?> spec, URI url) {
    return Webhook.open(control, scopes, List.of(new WebhookSpecs.Spec(spec, "")), url);
  }

  /**
   * Makes a function the webhooks of manifests: of their ValidatingWebhookConfigurations and MutatingWebhookConfigurations.
   *
   * @throws UncheckedIOException if the server rejects one
   */
  public Webhook webhooks(Manifests manifests, Review review) {
    return Webhook.open(control, scopes, specs(manifests), review);
  }

  /**
   * Makes the server call the webhooks of manifests at a URL, to which the path of each clientConfig is added; also the
   * conversions of CustomResourceDefinitions that are installed. Waits until the URL is served.
   */
  public Webhook webhooks(Manifests manifests, URI url) {
    return Webhook.open(control, scopes, specs(manifests), url);
  }

  /**
   * Makes a function the conversion of a CustomResourceDefinition that is installed, until it is closed, or the test of
   * {@link CoxswainExtension} ends.
   *
   * @param definition such as {@code widgets.example.com}
   */
  public Webhook conversion(String definition, Conversion conversion) {
    return Webhook.open(control, scopes, definition, conversion);
  }

  private List<WebhookSpecs.Spec> specs(Manifests manifests) {
    return WebhookSpecs.of(control, manifests);
  }

  /** Issues a certificate for a webhook server of a test, in a folder that exists, and finds a port for it. */
  public WebhookServing webhookServing(Path directory) {
    return WebhookServing.issue(control, directory);
  }

  Scopes scopes() {
    return scopes;
  }

  /** Takes a snapshot of all objects. A server keeps at most 100. */
  public Snapshot snapshot() {
    var name = "coxswain-junit-" + snapshots.incrementAndGet();
    control.send("POST", SNAPSHOTS, Map.of("name", name), JSON);
    return new Snapshot(control, SNAPSHOTS + "/" + name);
  }

  /** The time of the server. */
  public Instant now() {
    return Instant.parse(control.call("GET", CLOCK, null, Clock.class).now());
  }

  /**
   * Moves the time of a server with the flag {@code --virtual-clock}, by whole milliseconds. At the end, the server has
   * done what was due until then, such as deleting Events whose time is over. A day takes seconds.
   *
   * @throws UncheckedIOException if the server has the real clock
   */
  public void advance(Duration span) {
    control.send("POST", CLOCK, Map.of("advance", span.toMillis()), JSON);
  }

  /** Ends the server. Clients can no longer reach it. */
  @Override
  public void close() {
    control.close();
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
