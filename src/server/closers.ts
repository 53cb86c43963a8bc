/** What a start has opened, in order. All of it is closed, the last one first, when a later step fails and at the end of the server. */

type Close = () => void | Promise<void>;

export class Closers {
  readonly #opened: Close[] = [];

  /** To be called as soon as the thing is open: nothing that may fail comes between. */
  add(close: Close): void {
    this.#opened.push(close);
  }

  /** Each waits for the one opened after it. All are tried; a second call has nothing to do. @throws the error of the first one that failed */
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
