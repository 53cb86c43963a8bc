/** Decodes Protobuf bodies. */
import { unsupportedMediaType } from "../apimachinery/errors.ts";
import { parseGroupVersion } from "../apimachinery/object.ts";
import type { Catalog } from "../catalog/contract.ts";
import { JsonSyntaxError } from "../lib/json/parse.ts";
import { decodeProtobuf } from "../lib/protobuf/decode.ts";
import { type Envelope, readEnvelope } from "../lib/protobuf/envelope.ts";
import { ProtobufError } from "../lib/protobuf/reader.ts";
import { conform, DecodeError } from "../lib/schema/decode.ts";
import { yamlType } from "../lib/yaml/media-type.ts";
import { cannotHandle, checkKind, type ExpectedKind, unrecognized } from "./body-kind.ts";

/**
 * Decodes a body of the expected kind. Protobuf reports no unknown or repeated fields: unknown ones
 * are skipped.
 * @throws ApiError 400; 415 for custom resources
 */
export function decodeProtobufBody(bytes: Buffer, expected: ExpectedKind, catalog: Catalog): Record<string, unknown> {
  if (expected.schema.protobufName === undefined) throw unsupportedMediaType(["application/json", yamlType]);
  const envelope = openEnvelope(bytes, expected);
  const parsed = parseGroupVersion(envelope.apiVersion); // A malformed one counts as absent.
  const { group, version } = parsed === undefined || parsed.version === "" ? expected : parsed;
  const named = { group, version, kind: envelope.kind === "" ? expected.kind : envelope.kind };
  checkKind(named, expected, catalog);
  try {
    return conform(decodeProtobuf(envelope.raw, expected.schema), expected.schema).object;
  } catch (error) {
    if (!(error instanceof ProtobufError) && !(error instanceof DecodeError) && !(error instanceof JsonSyntaxError))
      throw error;
    throw cannotHandle(named, expected.kind, error.message);
  }
}

function openEnvelope(bytes: Buffer, expected: ExpectedKind): Envelope {
  try {
    return readEnvelope(bytes);
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw unrecognized(expected, error, bytes);
  }
}
