/** What is shown of objects, and how it is written: two choices that know nothing of each other. Source: resource-api §4.4. */
import type { Struct } from "../../lib/schema/schema.ts";
import type { ListMeta } from "../../registry/list.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { EventFraming } from "./event-framing.ts";
import type { KeepOptions } from "./message-cache.ts";
import type { Piece, PieceMemory } from "./pieces.ts";

/** One object to be written; each form is made when it is asked for. */
export interface Shown {
  readonly apiVersion: string;
  readonly kind: string;
  /** Compact, without a newline at its end. */
  json(): Buffer;
  /** The same and a newline, where that is at hand. */
  line?(): Buffer;
  /** In protobuf, without envelope. */
  message(): Buffer;
  /** What the JSON is made by; undefined for what nothing describes: custom resources, Tables. */
  readonly schema: Struct | undefined;
}

/** The objects of one resource as one request sees them. */
export interface View {
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  of(entry: Entry): Shown;
  /** What lists write of an entry: the head, the JSON from its offset on, the tail. */
  readonly itemHead: Buffer;
  item(entry: Entry): { readonly json: Buffer; readonly itemOffset: number };
  readonly itemTail: Buffer;
  /** Of items. */
  readonly schema: Struct | undefined;
  /** What a list without items has for them. */
  readonly noItems: "[]" | "null";
  /** The same message is returned without encoding it again while the cache keeps it. */
  message(entry: Entry, options?: KeepOptions): Buffer;
  /** Numbers of the fields in the list's message. */
  readonly listFields: { readonly metadata: number; readonly items: number };
  /** All keys of lists are sorted, as upstream writes those of custom resources. */
  readonly sorted: boolean;
}

/** Objects of which a list is made. */
export interface Listed {
  readonly meta: ListMeta;
  /** May be read once. */
  readonly entries: Iterable<Entry>;
  /** Objects that the client reads in chunks, of which this is one. Unset: these may be all that it reads. */
  readonly among?: number;
}

type Pieces = Generator<Piece, void, void>;

/** A way of writing what is shown. */
export interface Encoding {
  /** The type of answers; what Accept must ask for. */
  readonly mediaType: string;
  /** Another name of one that is there: refusals do not name it. */
  readonly alias: boolean;
  /** Writes messages, which objects of custom resources do not have. */
  readonly typed: boolean;
  /** Written only of what belongs to a group and version: neither of lists of groups nor of refusals before a path is found. */
  readonly grouped: boolean;
  /** Easier to read; undefined where it looks the same. */
  readonly pretty?: Encoding;
  /** The whole answer. */
  whole(shown: Shown): Buffer;
  list(view: View, listed: Listed, memory: PieceMemory): Pieces | Promise<Pieces>;
  /** What is JSON to begin with: a Table. Undefined where there is no such form. */
  readonly document?: (pieces: Pieces, memory: PieceMemory) => Pieces;
  /** Undefined where watches have no such form. */
  readonly stream?: StreamEncoding;
}

export interface StreamEncoding {
  /** As refusals name it. */
  readonly mediaType: string;
  readonly framing: EventFraming;
  /** What an event holds. */
  object(shown: Shown): Buffer;
}
