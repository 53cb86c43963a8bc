/** What was made of entries, such as messages, by the entry, of the last so many bytes: made once for lists, watches and reads alike. */
import type { Entry } from "../../watch-cache/contract.ts";

/** Of the older and of the younger half, entries included. */
const halfBytesMax = 32 << 20;

export class MessageCache<Message extends { readonly length: number } = Buffer> {
  #younger = new Map<Entry, Message>();
  #older = new Map<Entry, Message>();
  #youngerBytes = 0;
  readonly #halfBytesMax: number;

  constructor(options: { readonly halfBytesMax?: number } = {}) {
    this.#halfBytesMax = options.halfBytesMax ?? halfBytesMax;
  }

  get(entry: Entry, encode: (entry: Entry) => Message): Message {
    const known = this.#younger.get(entry);
    if (known !== undefined) return known;
    const message = this.#older.get(entry) ?? encode(entry);
    const bytes = message.length + entry.json.length; // The entry may live on only because it is here.
    if (this.#youngerBytes + bytes > this.#halfBytesMax) this.#forgetOlder();
    this.#youngerBytes += bytes;
    this.#younger.set(entry, message);
    return message;
  }

  /** What is here anyway; neither kept longer for it, nor made. */
  peek(entry: Entry): Message | undefined {
    return this.#younger.get(entry) ?? this.#older.get(entry);
  }

  #forgetOlder(): void {
    this.#older = this.#younger;
    this.#younger = new Map();
    this.#youngerBytes = 0;
  }
}
