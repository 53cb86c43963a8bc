/** A selector is invalid. The message is that of kube-apiserver. */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SelectorError";
  }
}
