package dev.coxswain.junit;

import java.util.List;

/** Objects that were installed together, until it is closed, or the test that has installed them ends. */
public final class Installation implements Scopes.Scoped {
  private static final String PATH = "/testing/install";

  private record Added(String name, List<InstalledObject> objects) {}

  private final Control control;
  private final Scopes scopes;
  private final Added added;
  private boolean isRemoved;

  private Installation(Control control, Scopes scopes, Added added) {
    this.control = control;
    this.scopes = scopes;
    this.added = added;
    scopes.added(this);
  }

  static Installation open(Control control, Scopes scopes, Manifests manifests) {
    var path = manifests.namespace() == null ? PATH : PATH + "?namespace=" + manifests.namespace();
    var answer = control.send("POST", path, manifests.stream(), "application/yaml", "application/json");
    return new Installation(control, scopes, control.decode(answer, Added.class));
  }

  /** In the order in which they were installed. */
  public List<InstalledObject> objects() {
    return added.objects();
  }

  /** Deletes the objects that were created, the last one first, and waits until they are gone. Closing again does nothing. */
  @Override
  public void close() {
    if (isRemoved) return;
    isRemoved = true;
    scopes.closed(this);
    control.send("DELETE", PATH + "/" + added.name(), null, "application/json");
  }
}
