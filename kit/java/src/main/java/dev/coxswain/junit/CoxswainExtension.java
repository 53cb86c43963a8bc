package dev.coxswain.junit;

import java.util.ArrayList;
import java.util.List;

import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a Kubernetes API server: parameters of type {@link KubernetesClient} and {@link
 * CoxswainServer}.
 *
 * <p>The client of a test has a namespace of its own, {@code client.getNamespace()}, which is deleted
 * after the test. Tests share a server, which starts with the first of them and ends with the last.
 * Clients of constructors and of {@code @BeforeAll} methods have the namespace {@code default}. Faults, installations and
 * webhooks that a test has added end with it.
 *
 * <p>When a test fails, the requests of all clients since it began are printed to standard error.
 *
 * <pre>{@code
 * @ExtendWith(CoxswainExtension.class)
 * class ControllerTest {
 *   @Test
 *   void createsDeployment(KubernetesClient client) { … }
 * }
 * }</pre>
 */
public final class CoxswainExtension
    implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback, ParameterResolver {
  private static final Namespace STORE = Namespace.create(CoxswainExtension.class);
  private static final String MARK = "mark";
  private static final int TIMELINE_CHARACTERS_MAX = 64 << 10;

  private final List<String> flags;

  /** For {@code @ExtendWith}. */
  public CoxswainExtension() {
    this(List.of());
  }

  private CoxswainExtension(List<String> flags) {
    this.flags = flags;
  }

  /**
   * For {@code @RegisterExtension}: a server with these flags of {@code coxswain serve}. Tests with the
   * same flags share a server.
   */
  public static CoxswainExtension withFlags(String... flags) {
    return new CoxswainExtension(List.of(flags));
  }

  /**
   * For {@code @RegisterExtension}: a server that emulates a release of Kubernetes, such as {@code 1.34}:
   * its resources, feature gates and defaults.
   */
  public static CoxswainExtension withKubernetesVersion(String version) {
    return withFlags("--kubernetes-version=" + version);
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    server(context).scopes().begin(context.getUniqueId());
  }

  @Override
  public void afterAll(ExtensionContext context) {
    closeAdded(context);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    context.getStore(STORE).put(MARK, server(context).mark());
    server(context).scopes().begin(context.getUniqueId());
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (context.getExecutionException().isPresent()) printTimeline(context);
    closeAdded(context);
  }

  /** Closes all, the last first, and then fails the test for the first complaint. */
  private void closeAdded(ExtensionContext context) {
    var hasPassed = context.getExecutionException().isEmpty();
    var complaints = new ArrayList<String>();
    for (var one : server(context).scopes().end(context.getUniqueId())) {
      var complaint = hasPassed ? one.complaint() : null;
      if (complaint != null) complaints.add(complaint);
      one.close();
    }
    if (!complaints.isEmpty()) throw new AssertionError(String.join("; ", complaints));
  }

  private void printTimeline(ExtensionContext context) {
    var timeline = server(context).timeline(context.getStore(STORE).get(MARK, Long.class));
    var over = Math.max(timeline.length() - TIMELINE_CHARACTERS_MAX, 0);
    System.err.println("Timeline of the server in " + context.getDisplayName() + ":");
    System.err.println(timeline.substring(over));
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    var type = parameter.getParameter().getType();
    return type == KubernetesClient.class || type == CoxswainServer.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    var server = server(context);
    if (parameter.getParameter().getType() == CoxswainServer.class) return server;
    return context
        .getStore(STORE)
        .getOrComputeIfAbsent(context.getTestMethod().isPresent(), key -> TestClient.open(server, context), TestClient.class)
        .client();
  }

  /** The store of the root closes it after all tests. */
  private CoxswainServer server(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(STORE)
        .getOrComputeIfAbsent(flags, key -> CoxswainServer.start(flags), CoxswainServer.class);
  }

  /** The client of a test or of a class; the store of its context closes it. */
  private record TestClient(KubernetesClient client, boolean ownsNamespace) implements AutoCloseable {
    static TestClient open(CoxswainServer server, ExtensionContext context) {
      if (context.getTestMethod().isEmpty()) return new TestClient(server.newClient("default"), false);
      var metadata = new NamespaceBuilder().withNewMetadata().withGenerateName("test-").endMetadata();
      try (var client = server.newClient("default")) {
        var namespace = client.resource(metadata.build()).create().getMetadata().getName();
        return new TestClient(server.newClient(namespace), true);
      }
    }

    @Override
    public void close() {
      try (client) {
        if (ownsNamespace) client.namespaces().withName(client.getNamespace()).delete();
      }
    }
  }
}
