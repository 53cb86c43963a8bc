/**
 * The resources that a start has opened, in order. They are closed in reverse order when a later step fails, and when
 * the server stops.
 */

type Close = () => void | Promise<void>;

/** Collects and closes the resources of a server. */
export class Closers {
  readonly #opened: Close[] = [];

  /** Call it right after opening, before anything else can fail. */
  add(close: Close): void {
    this.#opened.push(close);
  }

  /** Closes all, one after the other, even if one fails. @throws the first error */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let close = this.#opened.pop(); close !== undefined; close = this.#opened.pop()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
