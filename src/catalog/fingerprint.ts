/** Tells whether stored bytes come from this very definition. */
import { createHash } from "node:crypto";
import type { Struct, Type } from "../lib/schema/schema.ts";
import type { StorageForm } from "./contract.ts";

/** Raised when the encoder writes the same object differently than before. */
const encoderVersion = 1;

/** 32 bits over everything that shapes the encoded bytes: names, order, kinds and emptiness rules of all fields that can be reached. */
export function fingerprintOf({ group, version, kind, schema }: StorageForm): number {
  const hash = createHash("sha256");
  hash.update(`${encoderVersion}|${group}/${version}/${kind}`);
  if (schema.custom !== undefined) {
    hash.update(`|custom|${schema.custom.fingerprint}`);
    return hash.digest().readUInt32LE(0);
  }
  const seen = new Set<Struct>();
  const visit = (type: Type): void => {
    hash.update(type.kind);
    if (type.kind === "list") visit(type.items);
    else if (type.kind === "map") visit(type.values);
    else if (type.kind === "struct") {
      hash.update(type.definition);
      if (seen.has(type)) return;
      seen.add(type);
      for (const field of type.fields) {
        hash.update(`|${field.name},${field.pointer},${field.omitEmpty},${field.omitZero}|`);
        visit(field.type);
      }
    }
  };
  visit(schema);
  return hash.digest().readUInt32LE(0);
}
