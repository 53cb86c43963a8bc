/** The end of a call: its time limit, or the end of its purpose. */
import { type PostOptions, WebhookError } from "./contract.ts";

/** Cancels the step of a call that is in progress when the call must end. */
export class Deadline {
  #reason: WebhookError | undefined;
  #cancel: ((reason: WebhookError) => void) | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #forget: (() => void) | undefined;

  constructor({ timeoutMs, lifetime }: PostOptions) {
    this.#timer = setTimeout(() => this.#end(new WebhookError("timeout", "context deadline exceeded")), timeoutMs);
    if (lifetime === undefined) return;
    const end = (): void => this.#end(new WebhookError("canceled", "context canceled"));
    if (lifetime.isOver()) end();
    else this.#forget = lifetime.onEnd(end);
  }

  /** Why the call has ended: an error of kind `timeout` or `canceled`. */
  get reason(): WebhookError | undefined {
    return this.#reason;
  }

  /** @throws WebhookError after the end */
  check(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }

  /**
   * Sets what cancels the current step, which replaces that of the step before.
   *
   * @param cancel not called if the call has ended before; see `check`
   */
  onEnd(cancel: (reason: WebhookError) => void): void {
    this.#cancel = cancel;
  }

  /** Ends the timer and the use of the lifetime. */
  clear(): void {
    this.#cancel = undefined;
    clearTimeout(this.#timer);
    this.#forget?.();
  }

  #end(reason: WebhookError): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#cancel?.(reason);
  }
}
