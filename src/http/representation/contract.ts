/**
 * The shape of responses, and their encoding, which are independent of each other.
 * Source: Kubernetes docs, "Kubernetes API Concepts", heading "Alternate representations of resources".
 */
import type { Struct } from "../../lib/schema/schema.ts";
import type { ListMeta } from "../../registry/list.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { EventFraming } from "./event-framing.ts";
import type { ListMemory } from "./list-pieces.ts";
import type { KeepOptions } from "./message-cache.ts";
import type { Piece } from "./piece.ts";
import type { PieceMemory } from "./piece-memory.ts";

/** One object to encode; each form is computed when needed. */
export interface Shown {
  readonly apiVersion: string;
  readonly kind: string;
  /** Compact, without a newline at its end. */
  json(): Buffer;
  /** The JSON with a newline, where it exists already. */
  line?(): Buffer;
  /** In protobuf, without envelope. */
  message(): Buffer;
  /** The schema of the JSON; undefined for custom resources and Tables. */
  readonly schema: Struct | undefined;
}

/** The objects of a resource in the form that a request receives. */
export interface View {
  readonly apiVersion: string;
  readonly kind: string;
  readonly listKind: string;
  of(entry: Entry): Shown;
  /** The parts of a list item: the head, the JSON from its offset on, the tail. */
  readonly itemHead: Buffer;
  item(entry: Entry): { readonly json: Buffer; readonly itemOffset: number };
  readonly itemTail: Buffer;
  /** Of items. */
  readonly schema: Struct | undefined;
  /** The items of an empty list. */
  readonly noItems: "[]" | "null";
  /** The message of an entry, which the cache may keep. */
  message(entry: Entry, options?: KeepOptions): Buffer;
  /** Field numbers in the list's message. */
  readonly listFields: { readonly metadata: number; readonly items: number };
  /** Whether the keys of lists are sorted, as upstream does for custom resources. */
  readonly sorted: boolean;
}

/** The objects of a list. */
export interface Listed {
  readonly meta: ListMeta;
  /** May be read once. */
  readonly entries: Iterable<Entry>;
  /**
   * The number of objects that the client reads in chunks, of which this is one. Unset for a list
   * that is not chunked.
   */
  readonly among?: number;
}

type Pieces = Generator<Piece, void, void>;

/** An encoding of responses. */
export interface Encoding {
  /** The media type in Accept and of responses. */
  readonly mediaType: string;
  /** Another name of an encoding, which errors do not list. */
  readonly alias: boolean;
  /** Whether it encodes messages, which custom resources do not have. */
  readonly typed: boolean;
  /**
   * Whether it applies only to resources of a group and version: not to lists of groups, nor to
   * errors before routing.
   */
  readonly grouped: boolean;
  /** An indented variant, if it differs. */
  readonly pretty?: Encoding;
  /** Encodes a whole response. */
  whole(shown: Shown): Buffer;
  /** Encodes a long one, and serves others meanwhile; undefined where that takes little time. */
  readonly wholeInSlices?: (shown: Shown) => Promise<Buffer>;
  list(view: View, listed: Listed, memory: ListMemory): Pieces | Promise<Pieces>;
  /** Encodes a JSON document: a Table. Undefined if Tables are not supported. */
  readonly document?: (pieces: Pieces, memory: PieceMemory) => Pieces;
  /** Undefined if watches are not supported. */
  readonly stream?: StreamEncoding;
}

/** The encoding of watch events. */
export interface StreamEncoding {
  /** The media type in errors. */
  readonly mediaType: string;
  readonly framing: EventFraming;
  /** Encodes the object of an event. */
  object(shown: Shown): Buffer;
}
