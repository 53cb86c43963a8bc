/** A bounded cache of encoded entries, such as messages, shared by lists, watches and reads. */
import type { Entry } from "../../watch-cache/contract.ts";

/** Limit of the older half and of the younger half. */
const halfBytesMax = 32 << 20;

/** Approximate overhead of a message. */
const messageBytes = 300;

/** Options that decide whether an encoding is kept. */
export interface KeepOptions {
  /**
   * The number of objects that the client reads one after another: unless all of them fit, none is
   * kept.
   */
  readonly among?: number | undefined;
}

export class MessageCache {
  // Weak keys: replaced and deleted entries release their messages.
  #younger = new WeakMap<Entry, Buffer>();
  #older = new WeakMap<Entry, Buffer>();
  #youngerBytes = 0;
  readonly #halfBytesMax: number;

  constructor(options: { readonly halfBytesMax?: number } = {}) {
    this.#halfBytesMax = options.halfBytesMax ?? halfBytesMax;
  }

  get(entry: Entry, encode: (entry: Entry) => Buffer, { among = 1 }: KeepOptions = {}): Buffer {
    const cached = this.#younger.get(entry);
    if (cached !== undefined) return cached;
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
