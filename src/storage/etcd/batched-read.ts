/**
 * Shares one read among callers. A caller gets the result of a read that started after its call,
 * because an earlier one may miss what the caller knows.
 */
export class BatchedRead<T> {
  readonly #start: () => Promise<T>;
  #running: Promise<T> | undefined;
  #next: Promise<T> | undefined;

  constructor(start: () => Promise<T>) {
    this.#start = start;
  }

  read(): Promise<T> {
    if (this.#running === undefined) return this.#run();
    this.#next ??= this.#running.then(
      () => this.#run(),
      () => this.#run(),
    );
    return this.#next;
  }

  #run(): Promise<T> {
    this.#next = undefined;
    const running = this.#start();
    this.#running = running;
    const finish = (): void => {
      if (this.#running === running) this.#running = undefined;
    };
    running.then(finish, finish);
    return running;
  }
}
