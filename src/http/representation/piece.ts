/** The pieces of long responses. */
import type { DeflatedPart } from "../../lib/gzip/gzip-member.ts";

/**
 * Part of a response. In compact JSON it ends outside of strings; the last part ends with a
 * newline. One that is empty and not the last lets others be served.
 */
export interface Piece {
  /** The length of its bytes. */
  readonly length: number;
  /** Encodes it. Called once at most. */
  encode(): Buffer;
  readonly last: boolean;
  /** What other responses share of it, compressed. */
  readonly shared?: SharedPiece;
}

/** A piece whose content is decided by entries alone. */
export interface SharedPiece {
  /** The compressed content, if it is kept already. */
  readonly deflated: DeflatedPart | undefined;
  /** Keeps the compressed content for other responses. */
  keep(deflated: DeflatedPart): void;
  /** Few bytes before and after the content. */
  readonly before: Buffer;
  readonly after: Buffer;
  /** Encodes the content alone. */
  encodeContent(): Buffer;
}

/**
 * The size at which a piece is written. A response needs a few of them at a time, whatever its
 * length.
 */
export const pieceBytes = 128 << 10;

/** Whether there is nothing to write. */
export function isEmpty({ length, last }: Piece): boolean {
  return length === 0 && !last;
}

/** A piece that is encoded already. */
export function encodedPiece(bytes: Buffer, last: boolean): Piece {
  return { length: bytes.length, encode: () => bytes, last };
}
