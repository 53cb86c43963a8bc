package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Base64;

import io.fabric8.kubernetes.api.model.SecretBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.testkit.engine.EngineTestKit;

class TimelineTest {
  private static final String PASSWORD = "correct-horse";

  /** Runs only inside {@link #aFailedTestPrintsItsRequests}. */
  @ExtendWith(CoxswainExtension.class)
  @EnabledIfSystemProperty(named = "coxswain.failing", matches = "true")
  static class Failing {
    @Test
    void fails(KubernetesClient client) {
      var metadata = new SecretBuilder().withNewMetadata().withName("mine").endMetadata();
      client.resource(metadata.addToStringData("password", PASSWORD).build()).create();
      fail("on purpose");
    }

    @Test
    void passes(KubernetesClient client) {
      client.secrets().withName("other").get();
    }
  }

  @Test
  void aFailedTestPrintsItsRequests() {
    var printed = new ByteArrayOutputStream();
    var standardError = System.err;
    System.setProperty("coxswain.failing", "true");
    System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
    try {
      var tests = EngineTestKit.engine("junit-jupiter").selectors(selectClass(Failing.class)).execute().testEvents();
      assertEquals(1, tests.failed().count());
      assertEquals(1, tests.succeeded().count());
    } finally {
      System.setErr(standardError);
      System.clearProperty("coxswain.failing");
    }
    var text = printed.toString(StandardCharsets.UTF_8);
    assertTrue(text.contains("Timeline of the server in fails("), text);
    assertTrue(text.contains("create") && text.contains("/mine"), text);
    assertFalse(text.contains("/other"), "requests of a test that passed");
    var encoded = Base64.getEncoder().encodeToString(PASSWORD.getBytes(StandardCharsets.UTF_8));
    assertFalse(text.contains(PASSWORD) || text.contains(encoded), "values of Secrets");
  }
}
