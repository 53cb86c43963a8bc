/** Adds the parts of other servers to the encoded parts of the v2 document. */
import type { Json } from "../lib/json/values.ts";
import { Pauses } from "../lib/pauses.ts";
import { type MergeTarget, mayConflict, mergeDocument, mergeTarget } from "../lib/swagger/merge.ts";

/** Encodes a part with its name. */
export type EncodePiece = (name: string, value: Json) => Buffer;

/** The encoders of the parts of a v2 document. */
export interface PiecesV2 {
  readonly path: EncodePiece;
  readonly definition: EncodePiece;
  readonly parameter: EncodePiece;
}

/** Encoded parts by name, and those that are not encoded yet. */
export interface EncodedPieces {
  readonly paths: readonly [string, Buffer][];
  readonly schemas: readonly [string, Buffer][];
  /** Definitions that may conflict with those of other servers. */
  readonly kept: readonly [string, Json][];
}

/** All parts, encoded. */
export interface AllPieces {
  readonly paths: readonly [string, Buffer][];
  readonly schemas: readonly [string, Buffer][];
  readonly parameters: readonly [string, Buffer][];
}

/** Whether a definition has to be kept for the comparison with those of other servers. */
export function keepsFor(others: readonly Json[]): (name: string) => boolean {
  return mayConflict(others, "definitions");
}

/** Merges the documents of other servers, and encodes what is not encoded yet. */
export async function mergePieces(
  own: EncodedPieces & { readonly parameters: readonly [string, Json][] },
  others: readonly Json[],
  encode: PiecesV2,
): Promise<AllPieces> {
  const pauses = new Pauses();
  const target = mergeTarget({
    paths: new Map(own.paths.map(([name]) => [name, undefined])),
    definitions: new Map([...own.schemas.map(([name]) => [name, undefined] as const), ...own.kept]),
    parameters: new Map(own.parameters),
  });
  for (const other of others) {
    mergeDocument(target, other);
    if (pauses.isDue()) await pauses.pause();
  }
  const encodeAll = async (parts: MergeTarget["paths"], encodePiece: EncodePiece): Promise<[string, Buffer][]> => {
    const encoded: [string, Buffer][] = [];
    for (const [name, part] of parts) {
      if (part !== undefined) encoded.push([name, encodePiece(name, part)]);
      if (pauses.isDue()) await pauses.pause();
    }
    return encoded;
  };
  return {
    paths: [...own.paths, ...(await encodeAll(target.paths, encode.path))],
    schemas: [...own.schemas, ...(await encodeAll(target.definitions, encode.definition))],
    parameters: await encodeAll(target.parameters, encode.parameter),
  };
}
