/**
 * Invalid JSON. The message is that of Go, such as `invalid character 'x' after top-level
 * value`. Source: https://pkg.go.dev/encoding/json.
 */
export class JsonSyntaxError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "JsonSyntaxError";
  }
}
