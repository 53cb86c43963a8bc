/**
 * What a start has opened, in order. All of it is closed in reverse order when a later step fails, and when the server
 * ends.
 */

type Close = () => void | Promise<void>;

/** The list of what a start has opened. */
export class Closers {
  readonly #opened: Close[] = [];

  /** Call it right after opening, before anything else can fail. */
  add(close: Close): void {
    this.#opened.push(close);
  }

  /** Closes one after the other. Goes on after an error. @throws the first error */
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
