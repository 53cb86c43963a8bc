/** Parameters that a v2 document defines once and references in operations. */
import { encodeAny } from "../lib/json/encode-any.ts";
import type { Json } from "../lib/json/values.ts";

interface SharedParameters {
  /** Adds a parameter to the document. @returns a reference to it */
  share(parameter: Json): Json;
  /** All added parameters. */
  all(): [name: string, parameter: Json][];
}

/** Starts with no parameters. */
export function sharedParameters(): SharedParameters {
  const names = new Map<string, string>();
  const parameters = new Map<string, Json>();
  return {
    share(parameter) {
      const json = encodeAny(parameter);
      let name = names.get(json);
      if (name === undefined) {
        name = `${parameter.name}-${shortHash(json)}`;
        names.set(json, name);
        parameters.set(name, parameter);
      }
      return { $ref: `#/parameters/${name}` };
    },
    all: () => [...parameters],
  };
}

const offset = 0xcbf29ce484222325n;
const prime = 0x100000001b3n;

/**
 * Six bytes of the 64-bit FNV-1 hash of the parameter as Go encodes it, so that names equal
 * upstream's.
 */
function shortHash(json: string): string {
  let hash = offset;
  for (const byte of Buffer.from(json)) hash = BigInt.asUintN(64, hash * prime) ^ BigInt(byte);
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(hash);
  return bytes.subarray(0, 6).toString("base64").replaceAll("+", "-").replaceAll("/", "_");
}
