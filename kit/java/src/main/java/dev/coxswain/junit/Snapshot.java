package dev.coxswain.junit;

/** A state of the objects of a server, until it is closed. */
public final class Snapshot implements AutoCloseable {
  private final Control control;
  private final String path;
  private boolean isDeleted;

  Snapshot(Control control, String path) {
    this.control = control;
    this.path = path;
  }

  /** Gives the server the objects of the snapshot. Watches end with the error 410, and clients list again. */
  public void restore() {
    control.send("POST", path + "/restore", null, "application/json");
  }

  /** Forgets the snapshot. */
  @Override
  public void close() {
    if (isDeleted) return;
    isDeleted = true;
    control.send("DELETE", path, null, "application/json");
  }
}
