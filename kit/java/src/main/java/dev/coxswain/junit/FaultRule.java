package dev.coxswain.junit;

/** A rule that makes requests fail until it is closed, or the test that has added it ends. */
public final class FaultRule implements Scopes.Scoped {
  private final Control control;
  private final String path;
  private final Scopes scopes;
  private boolean isRemoved;

  FaultRule(Control control, String path, Scopes scopes) {
    this.control = control;
    this.path = path;
    this.scopes = scopes;
    scopes.added(this);
  }

  /** How often the fault has happened. */
  public int hits() {
    return control.call("GET", path, null, FaultState.class).hits();
  }

  /** Ends the rule. Ending it again does nothing. */
  @Override
  public void close() {
    if (isRemoved) return;
    isRemoved = true;
    scopes.closed(this);
    control.send("DELETE", path, null, "application/json");
  }
}
