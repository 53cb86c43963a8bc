/** A hash by which the server recognizes stored bytes that were encoded with the same schema. */
import { createHash } from "node:crypto";
import type { Struct, Type } from "../lib/schema/schema.ts";
import type { StorageForm } from "./contract.ts";

/** Incremented when the encoder writes an object differently than before. */
const encoderVersion = 1;

/** Servers share the forms of built-in kinds. */
const known = new WeakMap<StorageForm, number>();

/**
 * A 32-bit hash of everything that determines the encoding: names, order, types and omission rules
 * of all reachable fields.
 */
export function fingerprintOf(form: StorageForm): number {
  const existing = known.get(form);
  if (existing !== undefined) return existing;
  const fingerprint = hashOf(form);
  known.set(form, fingerprint);
  return fingerprint;
}

function hashOf({ group, version, kind, schema }: StorageForm): number {
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
