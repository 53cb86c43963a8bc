/** Asks a server for answers that a recording can contain. */
import { applyPatchCborType, cborSequenceType, cborType } from "../../lib/cbor/media-types.ts";
import { isProtobuf } from "../../lib/protobuf/media-types.ts";
import { yamlType } from "../../lib/yaml/media-type.ts";

const others: ReadonlySet<string> = new Set([applyPatchCborType, cborSequenceType, cborType, yamlType]);

/**
 * Replaces protobuf, CBOR and YAML by JSON, which clients accept from every server. The parameters
 * that select a Table or metadata remain.
 */
export function acceptJson(header: string): string {
  const clauses = header.split(",").map((clause) => {
    const [type = "", ...parameters] = clause.split(";");
    const name = type.trim().toLowerCase();
    return isProtobuf(name) || others.has(name) ? ["application/json", ...parameters].join(";") : clause.trim();
  });
  return [...new Set(clauses)].join(",");
}
