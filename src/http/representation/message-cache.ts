/** What was made of entries, such as messages, by the entry, of the last so many bytes: made once for lists, watches and reads alike. */
import type { Entry } from "../../watch-cache/contract.ts";

/** Of the older and of the younger half, entries included. */
const halfBytesMax = 32 << 20;

/** Why what is made of an entry may not be worth keeping. */
export interface KeepOptions {
  /** Objects that the client reads one after another: unless what is made of all of them fits, each would be gone before it is read again. */
  readonly among?: number | undefined;
}

export class MessageCache {
  #younger = new Map<Entry, Buffer>();
  #older = new Map<Entry, Buffer>();
  #youngerBytes = 0;
  readonly #halfBytesMax: number;

  constructor(options: { readonly halfBytesMax?: number } = {}) {
    this.#halfBytesMax = options.halfBytesMax ?? halfBytesMax;
  }

  get(entry: Entry, encode: (entry: Entry) => Buffer, { among = 1 }: KeepOptions = {}): Buffer {
    const known = this.#younger.get(entry);
    if (known !== undefined) return known;
    const message = this.#older.get(entry) ?? encode(entry);
    const bytes = message.length + entry.json.length; // The entry may live on only because it is here.
    if (among * bytes > this.#halfBytesMax * 2) return message;
    if (this.#youngerBytes + bytes > this.#halfBytesMax) this.#forgetOlder();
    this.#youngerBytes += bytes;
    this.#younger.set(entry, message);
    return message;
  }

  #forgetOlder(): void {
    this.#older = this.#younger;
    this.#younger = new Map();
    this.#youngerBytes = 0;
  }
}
