/** A text that is no JSON. The message is Go's, such as `invalid character 'x' after top-level value`. */
export class JsonSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "JsonSyntaxError";
  }
}
