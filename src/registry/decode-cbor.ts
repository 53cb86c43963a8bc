/** Decodes CBOR bodies. */

import type { Catalog } from "../catalog/contract.ts";
import { cborTypeMeta, decodeAnyCbor, decodeCbor } from "../lib/cbor/decode.ts";
import { CborError } from "../lib/cbor/wire.ts";
import { conform, DecodeError } from "../lib/schema/decode.ts";
import type { Struct } from "../lib/schema/schema.ts";
import {
  type BodyOptions,
  cannotHandle,
  checkCustomVersion,
  type DecodedBody,
  type ExpectedKind,
  hasNoSchema,
  isReportedWithoutSchema,
  type NamedKind,
  namedKind,
  schemaOf,
  strictError,
  TypeMetaProblem,
  unrecognized,
} from "./body-kind.ts";

/**
 * Decodes a body of the expected kind. Repeated keys are rejected at every level of field
 * validation.
 * @throws ApiError 400
 */
export function decodeCborBody(bytes: Buffer, expected: ExpectedKind, options: BodyOptions): DecodedBody {
  const named = readCborKind(bytes, expected, options.catalog);
  try {
    const schema = schemaOf(named, expected, options.catalog);
    const decoded = decodeObject(bytes, schema, { strict: options.fieldValidation !== "Ignore" });
    const problems = hasNoSchema(named, expected) ? decoded.problems.filter(isReportedWithoutSchema) : decoded.problems;
    if (options.fieldValidation === "Strict" && problems.length > 0)
      throw cannotHandle(named, expected.kind, strictError(problems));
    if (options.fieldValidation === "Warn") options.warnings.push(...problems);
    checkCustomVersion(named, expected);
    return { kind: named.kind, object: decoded.object };
  } catch (error) {
    if (error instanceof CborError || error instanceof DecodeError)
      throw cannotHandle(named, expected.kind, error.message);
    throw error;
  }
}

/** Problems of custom resources are reported as for JSON. */
function decodeObject(
  bytes: Buffer,
  schema: Struct,
  { strict }: { readonly strict: boolean },
): { readonly object: Record<string, unknown>; readonly problems: readonly string[] } {
  return schema.protobufName === undefined
    ? conform(decodeAnyCbor(bytes, { keepsFloats: schema.custom !== undefined }), schema)
    : decodeCbor(bytes, schema, { strict });
}

function readCborKind(bytes: Buffer, expected: ExpectedKind, catalog: Catalog): NamedKind {
  try {
    return namedKind(cborTypeMeta(bytes), expected, catalog);
  } catch (error) {
    if (!(error instanceof CborError) && !(error instanceof TypeMetaProblem)) throw error;
    throw unrecognized(expected, error, bytes);
  }
}
