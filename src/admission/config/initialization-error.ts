/** A configuration that can be decoded, and with which the plugin cannot start. */
export class InitializationError extends Error {
  /** @param message upstream's, without the name of the plugin */
  constructor(message: string) {
    super(message);
    this.name = "InitializationError";
  }
}
