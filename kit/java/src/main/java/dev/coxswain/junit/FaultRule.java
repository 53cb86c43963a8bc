package dev.coxswain.junit;

/** A rule that makes requests fail until it is closed. */
public final class FaultRule implements AutoCloseable {
  private final Control control;
  private final String path;
  private boolean isRemoved;

  FaultRule(Control control, String path) {
    this.control = control;
    this.path = path;
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
    control.send("DELETE", path, null, "application/json");
  }
}
