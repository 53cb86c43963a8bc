import { parseGroupVersion } from "../../apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../catalog/builtin-schemas.ts";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import type { Shown } from "./contract.ts";

/**
 * @param object in its wire form, such as a Status, a discovery document or a list; without an
 *   apiVersion, it is of `v1`, and its envelope names none
 */
export function metaObject(object: {
  readonly kind: string;
  readonly apiVersion?: string;
  readonly [field: string]: unknown;
}): Shown {
  const { kind, apiVersion = "" } = object;
  return {
    apiVersion,
    kind,
    json: () => Buffer.from(encodeAny(object)),
    message: () => encodeProtobuf(object, schemaOf(apiVersion || "v1", kind)),
    get schema() {
      return schemaOf(apiVersion || "v1", kind);
    },
  };
}

function schemaOf(apiVersion: string, kind: string): Struct {
  const { group, version } = parseGroupVersion(apiVersion) as { group: string; version: string };
  return builtinSchema(definitionOf(group, version, kind) ?? `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`);
}
