/** A webhook is not valid; the message names the field. */
export class WebhookSpecError extends Error {
  constructor(field: string, problem: string) {
    super(`${field}: ${problem}`);
    this.name = "WebhookSpecError";
  }
}
