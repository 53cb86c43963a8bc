/** The decrypted keys of values, the most recently used ones. */

/** How many keys are kept at least: a key that was fetched must be there when its value is decrypted. */
export const keysMinimum = 1000;
/** Failures that are kept until the value is read. */
const failuresMax = 100;

export class KeyCache<Key> {
  /** By the id of the source, the one that was used last at the end. */
  readonly #keys = new Map<string, Key>();
  readonly #loading = new Map<string, Promise<void>>();
  readonly #failures = new Map<string, Error>();
  readonly #keysMax: number;
  readonly #sized: (size: number) => void;

  /** @param sized receives the number of keys */
  constructor(keysMax: number, sized: (size: number) => void) {
    this.#keysMax = keysMax;
    this.#sized = sized;
  }

  get(id: string): Key | undefined {
    const key = this.#keys.get(id);
    if (key !== undefined) this.#moveToEnd(id, key);
    return key;
  }

  set(id: string, key: Key): void {
    if (this.get(id) === key) return;
    this.#moveToEnd(id, key);
    trim(this.#keys, this.#keysMax);
    this.#sized(this.#keys.size);
  }

  /** Loads a key once for all that wait for it. A failure is kept for `failure`. */
  load(id: string, load: () => Promise<Key>): Promise<void> {
    const running = this.#loading.get(id);
    if (running !== undefined) return running;
    const loading = load()
      .then(
        (key) => {
          this.#failures.delete(id);
          this.set(id, key);
        },
        (error: Error) => {
          this.#failures.set(id, error);
          trim(this.#failures, failuresMax);
        },
      )
      .finally(() => this.#loading.delete(id));
    this.#loading.set(id, loading);
    return loading;
  }

  /** Why the key is not present. */
  failure(id: string): Error {
    return this.#failures.get(id) ?? new Error("failed to decrypt DEK, error: the key was not requested");
  }

  #moveToEnd(id: string, key: Key): void {
    this.#keys.delete(id);
    this.#keys.set(id, key);
  }
}

function trim(map: Map<string, unknown>, max: number): void {
  for (const oldest of map.keys()) {
    if (map.size <= max) return;
    map.delete(oldest);
  }
}
