package dev.coxswain.junit;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** The rules of a server that are not closed, and which of them end with a test or a class. */
final class RuleScopes {
  private final Set<FaultRule> open = new HashSet<>();
  /** The rules that existed when a test or class began, by its unique id: those of tests begin with that of their class. */
  private final Map<String, Set<FaultRule>> before = new HashMap<>();

  synchronized void added(FaultRule rule) {
    open.add(rule);
  }

  synchronized void closed(FaultRule rule) {
    open.remove(rule);
  }

  synchronized void begin(String id) {
    before.put(id, Set.copyOf(open));
  }

  /** The rules that it has added. One that another running test can have added, too, ends with that. */
  synchronized List<FaultRule> end(String id) {
    var own = before.remove(id);
    if (own == null) return List.of(); // Of two extensions with the same flags, the second one.
    return open.stream().filter(rule -> !own.contains(rule) && others(id).allMatch(set -> set.contains(rule))).toList();
  }

  private Stream<Set<FaultRule>> others(String id) {
    return before.entrySet().stream().filter(one -> !id.startsWith(one.getKey())).map(Map.Entry::getValue);
  }
}
