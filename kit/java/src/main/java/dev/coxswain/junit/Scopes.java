package dev.coxswain.junit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/** What tests have added to a server and not closed, and which of it ends with a test or a class. */
final class Scopes {
  /** A rule, an installation or a webhook. */
  interface Scoped extends AutoCloseable {
    @Override
    void close();

    /** Why a test that has passed must fail nevertheless, before this is closed; null if nothing is wrong. */
    default String complaint() {
      return null;
    }
  }

  private final Set<Scoped> open = new LinkedHashSet<>();
  /** What existed when a test or class began, by its unique id: those of tests begin with that of their class. */
  private final Map<String, Set<Scoped>> before = new HashMap<>();

  synchronized void added(Scoped one) {
    open.add(one);
  }

  synchronized void closed(Scoped one) {
    open.remove(one);
  }

  synchronized void begin(String id) {
    before.put(id, Set.copyOf(open));
  }

  /** What it has added, the last first. What another running test can have added, too, ends with that. */
  synchronized List<Scoped> end(String id) {
    var own = before.remove(id);
    if (own == null) return List.of(); // Of two extensions with the same flags, the second one.
    var added = new ArrayList<>(open);
    added.removeIf(one -> own.contains(one) || !others(id).allMatch(set -> set.contains(one)));
    Collections.reverse(added);
    return added;
  }

  private Stream<Set<Scoped>> others(String id) {
    return before.entrySet().stream().filter(one -> !id.startsWith(one.getKey())).map(Map.Entry::getValue);
  }
}
