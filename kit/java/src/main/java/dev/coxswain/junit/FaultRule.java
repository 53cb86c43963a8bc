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

  @Override
  public String complaint() {
    var state = control.call("GET", path, null, FaultState.class);
    if (state.hits() > 0 || Boolean.TRUE.equals(state.match().get("optional"))) return null;
    return "the fault " + state.fault().get("type") + " never happened, for " + state.match()
        + "; if that is right, set optional to true";
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
