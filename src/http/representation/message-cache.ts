/** What was made of entries, such as messages, by the entry, of the last so many bytes: made once for lists, watches and reads alike. */
import type { Entry } from "../../watch-cache/contract.ts";

/** Of the older and of the younger half. */
const halfBytesMax = 32 << 20;

/** About what a message costs besides its bytes. */
const messageBytes = 300;

/** Why what is made of an entry may not be worth keeping. */
export interface KeepOptions {
  /** Objects that the client reads one after another: unless what is made of all of them fits, each would be gone before it is read again. */
  readonly among?: number | undefined;
}

export class MessageCache {
  // Entries that are replaced or deleted take their messages with them.
  #younger = new WeakMap<Entry, Buffer>();
  #older = new WeakMap<Entry, Buffer>();
  #youngerBytes = 0;
  readonly #halfBytesMax: number;

  constructor(options: { readonly halfBytesMax?: number } = {}) {
    this.#halfBytesMax = options.halfBytesMax ?? halfBytesMax;
  }

  get(entry: Entry, encode: (entry: Entry) => Buffer, { among = 1 }: KeepOptions = {}): Buffer {
    const known = this.#younger.get(entry);
    if (known !== undefined) return known;
    const message = this.#older.get(entry) ?? encode(entry);
    const bytes = message.length + messageBytes;
    if (among * bytes > this.#halfBytesMax * 2) return message;
    if (this.#youngerBytes + bytes > this.#halfBytesMax) this.#forgetOlder();
    this.#youngerBytes += bytes;
    this.#younger.set(entry, message);
    return message;
  }

  #forgetOlder(): void {
    this.#older = this.#younger;
    this.#younger = new WeakMap();
    this.#youngerBytes = 0;
  }
}
