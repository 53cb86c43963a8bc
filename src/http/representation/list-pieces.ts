/** The pieces of lists whose items follow each other, so that lists share their compressed parts. */
import type { Entry } from "../../watch-cache/contract.ts";
import type { DeflatedParts, PartEntries, PartForm } from "./deflated-parts.ts";
import { encodedPiece, type Piece, pieceBytes } from "./piece.ts";
import type { PieceMemory } from "./piece-memory.ts";

/** A list around its items, and how items are encoded. */
export interface ListFrame {
  /** What decides the bytes of items. */
  readonly form: PartForm;
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Between two items; contained in the length of items. */
  readonly between: Buffer;
  /** A list without items. */
  empty(): Buffer;
  items(entries: readonly Entry[]): EncodedItems;
}

/** Consecutive items. */
export interface EncodedItems {
  readonly length: number;
  /** @returns the end offset */
  write(bytes: Buffer, at: number): number;
}

/** Where pieces are encoded, and compressed parts are kept. */
export interface ListMemory {
  readonly memory: PieceMemory;
  /** Unset for a response that is not compressed, and for entries whose revision does not decide their content. */
  readonly parts: DeflatedParts | undefined;
}

const nothing = Buffer.alloc(0);

export function* listPieces(
  entries: Iterable<Entry>,
  frame: ListFrame,
  { memory, parts }: ListMemory,
): Generator<Piece, void, void> {
  let before = frame.head;
  let current: PartEntries | undefined;
  for (const next of parts?.partsOf(entries, frame.form) ?? plainParts(entries)) {
    if (current !== undefined) {
      yield pieceOf(current, frame, { before, after: nothing, last: false, memory });
      before = frame.between;
    }
    current = next;
  }
  if (current === undefined) yield encodedPiece(frame.empty(), true);
  else yield pieceOf(current, frame, { before, after: frame.tail, last: true, memory });
}

interface Around extends Pick<ListMemory, "memory"> {
  readonly before: Buffer;
  readonly after: Buffer;
  readonly last: boolean;
}

function pieceOf(
  { entries, deflated, keep }: PartEntries,
  frame: ListFrame,
  { before, after, last, memory }: Around,
): Piece {
  let items: EncodedItems | undefined;
  const itemsOnce = (): EncodedItems => {
    items ??= frame.items(entries);
    return items;
  };
  const encode = (first: Buffer, end: Buffer): Buffer => {
    const { length, write } = itemsOnce();
    const bytes = memory.take(first.length + length + end.length);
    end.copy(bytes, write(bytes, first.copy(bytes)));
    return bytes;
  };
  return {
    get length() {
      return before.length + (deflated?.length ?? itemsOnce().length) + after.length;
    },
    last,
    encode: () => encode(before, after),
    shared: { before, after, deflated, keep, encodeContent: () => encode(nothing, nothing) },
  };
}

/** Divides a list into parts that are not kept. */
function* plainParts(entries: Iterable<Entry>): Generator<PartEntries, void, void> {
  let part: Entry[] = [];
  let bytes = 0;
  for (const entry of entries) {
    part.push(entry);
    bytes += entry.json.length;
    if (bytes < pieceBytes) continue;
    yield { entries: part, deflated: undefined, keep };
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield { entries: part, deflated: undefined, keep };
}

const keep = (): void => {};
