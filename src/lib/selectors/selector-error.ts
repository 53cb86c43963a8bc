/** A selector's text cannot be understood; the message is upstream's. */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SelectorError";
  }
}
