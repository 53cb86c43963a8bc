/** The pieces of one compressed response. */
import { type DeflatedPart, deflatePart, GzipMember } from "../../lib/gzip/gzip-member.ts";
import { isEmpty, type Piece, pieceBytes } from "./piece.ts";

/** Compressed bytes that are written together. */
const writtenBytes = pieceBytes / 2;
/** Pieces that are added in one step, because they were compressed for another response. */
const sharedMax = 32;

/** Collects the bytes of a gzip member. */
export class CompressedPieces {
  readonly #next: () => Piece;
  readonly #release: (bytes: Buffer) => void;
  readonly #member = new GzipMember();
  #bytes: Buffer[] = [GzipMember.head];
  #length = GzipMember.head.length;
  /** A piece that is encoded and must be compressed. */
  #encoded: { readonly piece: Piece; readonly bytes: Buffer } | undefined;
  /** Whether all pieces are added. */
  isEnded = false;

  /** @param release receives the buffers of compressed pieces */
  constructor(next: () => Piece, release: (bytes: Buffer) => void) {
    this.#next = next;
    this.#release = release;
  }

  /** Adds pieces that are compressed already, until there is enough to write, or encodes one. @returns bytes of this work */
  step(): number {
    const before = this.#length;
    for (let count = 0; count < sharedMax && !this.isEnded && !this.isFull; count++) {
      const piece = this.#next();
      if (isEmpty(piece)) break;
      const { shared } = piece;
      if (shared?.deflated === undefined) {
        this.#encoded = { piece, bytes: shared?.encodeContent() ?? piece.encode() };
        return piece.length;
      }
      this.#add(piece, shared.deflated);
    }
    return this.#length - before;
  }

  /** Whether `compress` must be called before the next step. */
  get isEncoded(): boolean {
    return this.#encoded !== undefined;
  }

  /** Compresses the encoded piece in a thread. */
  async compress(): Promise<void> {
    const { piece, bytes } = this.#encoded as { piece: Piece; bytes: Buffer };
    this.#encoded = undefined;
    const deflated = await deflatePart(bytes);
    this.#release(bytes);
    piece.shared?.keep(deflated);
    this.#add(piece, deflated);
  }

  #add({ shared, last }: Piece, deflated: DeflatedPart): void {
    if (shared !== undefined) this.#push(this.#member.stored(shared.before));
    this.#push(this.#member.deflated(deflated));
    if (shared !== undefined) this.#push(this.#member.stored(shared.after));
    if (!last) return;
    this.#push(this.#member.end());
    this.isEnded = true;
  }

  #push(bytes: Buffer): void {
    this.#bytes.push(bytes);
    this.#length += bytes.length;
  }

  /** Whether there is enough to write. */
  get isFull(): boolean {
    return this.#length >= writtenBytes;
  }

  /** @returns the bytes to write */
  take(): Buffer {
    const bytes = Buffer.concat(this.#bytes, this.#length);
    this.#bytes = [];
    this.#length = 0;
    return bytes;
  }
}
