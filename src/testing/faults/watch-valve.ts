/** Cuts, stalls and thins out one watch. */
import type { RequestContext } from "../../http/contract.ts";
import type { WatchStreamOptions } from "../../http/endpoints/watch-stream.ts";
import { overriding } from "../overriding.ts";
import type { ActiveRule } from "./rules.ts";

/** Bytes that a stalled watch holds back; above, its connection is closed. */
const heldBytesMax = 16 << 20;

type Encoder = WatchStreamOptions["encoder"];
type Encoded = ReturnType<Encoder["encodeAdded"]>;

interface Piece {
  readonly bytes: Buffer;
  readonly taken: (() => void) | undefined;
}

/** A watch between its stream and its client. */
export class WatchValve {
  readonly context: RequestContext;
  readonly #stream: WatchStreamOptions["stream"];
  /** In effect; one at a time. */
  rule: ActiveRule | undefined;
  /** Events until the rule cuts or stalls the watch. */
  #left = Number.POSITIVE_INFINITY;
  /** The last of these events is in the piece that is written next. */
  #isReached = false;
  #isStalled = false;
  #isCut = false;
  /** Follows the last event before a stall, in the same batch. */
  #rest: Piece | undefined;
  #held: Piece[] = [];
  #heldBytes = 0;

  constructor(context: RequestContext, { stream }: WatchStreamOptions) {
    this.context = context;
    this.#stream = stream;
  }

  /** The options of the watch, so that it writes through this valve. */
  around(options: WatchStreamOptions): WatchStreamOptions {
    const { stream, encoder } = options;
    return {
      ...options,
      stream: overriding(stream, {
        write: (bytes, taken) => this.#write({ bytes, taken }),
        end: () => {
          this.#discard();
          stream.end();
        },
      }),
      encoder: {
        encode: (batch) => this.#split(batch.length, () => encoder.encode(batch), oneByOne(encoder, batch, false)),
        encodeFirst: (batch, isFirst) =>
          this.#split(batch.length, () => encoder.encodeFirst(batch, isFirst), oneByOne(encoder, batch, isFirst)),
        encodeAdded: (entries, added) => {
          const part = (from: number, to?: number): Encoded =>
            encoder.encodeAdded(entries.slice(from, to), { ...added, isFirst: added.isFirst && from === 0 });
          const left = this.#left;
          const whole = (): Encoded => encoder.encodeAdded(entries, added);
          const split = (): Split => {
            const rest = part(left).bytes;
            return { first: part(0, left), rest: { bytes: rest, taken: () => added.memory.release(rest) } };
          };
          return this.#split(entries.length, whole, split) as Encoded;
        },
        encodeBookmark: (metadata, isFirst) =>
          this.#isMissing(metadata.annotations !== undefined) ? nothing : encoder.encodeBookmark(metadata, isFirst),
        encodeError: (status) => encoder.encodeError(status),
      },
    };
  }

  /** Puts a rule into effect, also while the watch runs. */
  apply(rule: ActiveRule): void {
    this.rule = rule;
    const { fault } = rule;
    if (fault.type !== "cutWatch" && fault.type !== "stallWatch") return;
    this.#left = fault.events ?? 0;
    if (this.#left === 0) this.#reach();
  }

  /** The rule was removed: delivers what was held back. */
  release(): void {
    this.rule = undefined;
    this.#left = Number.POSITIVE_INFINITY;
    this.#isReached = false;
    this.#isStalled = false;
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    for (const { bytes, taken } of held) this.#stream.write(bytes, taken);
  }

  /** @param whole encodes everything @param split encodes the events that are left, and the others */
  #split(events: number, whole: () => Encoded | undefined, split: (left: number) => Split): Encoded | undefined {
    const left = this.#left;
    if (left === 0 || left === Number.POSITIVE_INFINITY) return whole();
    const { first, rest } = events <= left ? { first: whole(), rest: undefined } : split(left);
    this.#left -= first?.sizes.length ?? 0;
    this.#isReached = this.#left === 0;
    this.#rest = rest;
    return first;
  }

  #write(piece: Piece): boolean {
    if (this.#isCut) {
      piece.taken?.();
      return true;
    }
    if (piece.bytes.length === 0) return true;
    if (this.#isStalled) return this.#hold(piece);
    if (!this.#isReached) return this.#stream.write(piece.bytes, piece.taken);
    this.#isReached = false;
    const rest = this.#rest;
    this.#rest = undefined;
    const accepted = this.#stream.write(piece.bytes, () => {
      piece.taken?.();
      if (this.#isCut) this.#disconnect();
    });
    this.#reach();
    if (rest !== undefined) this.#write(rest);
    return accepted;
  }

  /** No event is left. */
  #reach(): void {
    const fault = this.rule?.fault;
    if (fault?.type === "stallWatch") this.#isStalled = true;
    if (fault?.type !== "cutWatch") return;
    this.#isCut = true;
    if (fault.how === "end") this.#stream.end();
    else if (fault.events === undefined || fault.events === 0) this.#disconnect();
  }

  /** Later, so that what was written before is sent. */
  #disconnect(): void {
    if (this.rule?.fault.type === "cutWatch" && this.rule.fault.how === "end") return;
    setImmediate(() => this.context.exchange.endConnection("now"));
  }

  #hold(piece: Piece): boolean {
    this.#heldBytes += piece.bytes.length;
    if (this.#heldBytes > heldBytesMax) {
      this.#isCut = true;
      this.#discard();
      this.#disconnect();
      piece.taken?.();
    } else this.#held.push(piece);
    return true;
  }

  #discard(): void {
    for (const { taken } of this.#held) taken?.();
    this.#held = [];
  }

  #isMissing(isInitialEnd: boolean): boolean {
    const fault = this.rule?.fault;
    return fault?.type === "missingBookmark" && (isInitialEnd || fault.which !== "initialEventsEnd");
  }
}

const nothing = Buffer.alloc(0);

interface Split {
  readonly first: Encoded | undefined;
  readonly rest: Piece | undefined;
}

/** Encodes events one by one until so many of them are in the scope of the watch, and then the others. */
function oneByOne(
  encoder: Encoder,
  batch: Parameters<Encoder["encode"]>[0],
  isFirst: boolean,
): (left: number) => Split {
  return (left) => {
    const shown: Encoded[] = [];
    let at = 0;
    for (; at < batch.length && shown.length < left; at++) {
      const one = encoder.encodeFirst(batch.slice(at, at + 1), isFirst && shown.length === 0);
      if (one !== undefined) shown.push(one);
    }
    const rest = encoder.encodeFirst(batch.slice(at), isFirst && shown.length === 0);
    return {
      first:
        shown.length === 0
          ? undefined
          : { bytes: Buffer.concat(shown.map(({ bytes }) => bytes)), sizes: shown.flatMap(({ sizes }) => sizes) },
      rest: rest && { bytes: rest.bytes, taken: undefined },
    };
  };
}
