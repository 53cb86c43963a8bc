package dev.coxswain.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.ClassOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestClassOrder;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(CoxswainExtension.class)
@TestClassOrder(ClassOrderer.OrderAnnotation.class)
class ScopesTest {
  private static void add(CoxswainServer server, String name) {
    server.addFault(Map.of("name", name, "optional", true), Map.of("type", "latency", "ms", 0));
  }

  private static List<Object> names(CoxswainServer server) {
    return server.faults().stream().<Object>map(rule -> rule.match().get("name")).toList();
  }

  @Nested
  @Order(1)
  class OfOneClass {
    @BeforeAll
    static void addForAll(CoxswainServer server) {
      add(server, "of-all");
    }

    @RepeatedTest(2)
    void rulesEndWithTheirTest(CoxswainServer server) {
      assertEquals(List.of("of-all"), names(server));
      add(server, "of-a-test");
    }

    @Test
    void closedRulesAreNotClosedAgain(CoxswainServer server) {
      server.addFault(Map.of(), Map.of("type", "gone")).close();
    }
  }

  @Nested
  @Order(2)
  class OfTheNextClass {
    @Test
    void rulesEndWithTheirClass(CoxswainServer server) {
      assertEquals(List.of(), names(server));
    }
  }
}
