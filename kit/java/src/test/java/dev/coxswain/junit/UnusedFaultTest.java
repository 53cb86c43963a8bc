package dev.coxswain.junit;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.testkit.engine.EventConditions.finishedWithFailure;
import static org.junit.platform.testkit.engine.TestExecutionResultConditions.message;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.platform.testkit.engine.EngineTestKit;

class UnusedFaultTest {
  /** Runs only inside {@link #aFaultThatNeverHappenedFailsTheTest}. */
  @ExtendWith(CoxswainExtension.class)
  @EnabledIfSystemProperty(named = "coxswain.unused", matches = "true")
  static class Unused {
    @Test
    void fails(CoxswainServer server) {
      server.addFault(Map.of("verb", "update", "name", "nothing"), Map.of("type", "conflict"));
    }

    @Test
    void passes(CoxswainServer server) {
      server.addFault(Map.of("verb", "update", "name", "nothing", "optional", true), Map.of("type", "conflict"));
    }
  }

  @Test
  void aFaultThatNeverHappenedFailsTheTest() {
    System.setProperty("coxswain.unused", "true");
    try {
      var tests = EngineTestKit.engine("junit-jupiter").selectors(selectClass(Unused.class)).execute().testEvents();
      tests.assertStatistics(counts -> counts.succeeded(1).failed(1));
      tests.failed().assertThatEvents().haveExactly(1,
          finishedWithFailure(message(text -> text.startsWith("the fault conflict never happened, for {"))));
    } finally {
      System.clearProperty("coxswain.unused");
    }
  }
}
