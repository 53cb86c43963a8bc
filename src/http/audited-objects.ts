/**
 * Requests and responses as JSON for the audit log, whatever their encoding. Source:
 * `requestObject` and `responseObject` of audit.k8s.io/v1 Event.
 */
import { formatGroupVersion, type KubeObject } from "../apimachinery/object.ts";
import type { Resolved } from "../catalog/contract.ts";
import { decodeAnyCbor } from "../lib/cbor/decode.ts";
import { CborError } from "../lib/cbor/wire.ts";
import { encodeAny } from "../lib/json/encode-any.ts";
import { JsonSyntaxError, parseJson } from "../lib/json/parse.ts";
import { decodeYaml, YamlError } from "../lib/yaml/decode.ts";
import type { DecodeOptions } from "../registry/decode-body.ts";
import { toStorageVersion } from "../registry/decode-body.ts";
import { auditedOptions, type SentOptions } from "../registry/delete-options.ts";
import type { ListResult } from "../registry/list.ts";
import type { RequestAudit } from "../request/audit.ts";
import type { RequestContext } from "./contract.ts";
import type { Piece } from "./representation/piece.ts";
import { encodeAtVersion, encodeWithVersion } from "./representation/version.ts";

/** Records the body of a create or an update with defaults, as upstream does. */
export function auditedBody({ resolved }: RequestContext, audit: RequestAudit): NonNullable<DecodeOptions["decoded"]> {
  return (object, { group, version, kind, schema }, again) => {
    audit.requestObject(object, () => {
      const copy = again();
      const target = resolved as Resolved;
      if (schema === target.version.schema)
        return encodeAtVersion(toStorageVersion(copy, target), target).json.toString();
      return encodeWithVersion(
        { ...copy, kind, apiVersion: formatGroupVersion(group, version) } as KubeObject,
        schema,
      ).json.toString();
    });
  };
}

const unreadable = [JsonSyntaxError, YamlError, CborError];

/**
 * Records a patch as sent. A malformed body is rejected later, and
 * not recorded.
 */
export function auditDocument(audit: RequestAudit, body: Buffer, mediaType: string): void {
  audit.requestObject(undefined, () => {
    try {
      return encodeAny(readDocument(body, mediaType));
    } catch (error) {
      if (unreadable.some((kind) => error instanceof kind)) return undefined;
      throw error;
    }
  });
}

function readDocument(body: Buffer, mediaType: string): unknown {
  if (mediaType.endsWith("cbor")) return decodeAnyCbor(body);
  return mediaType.endsWith("yaml") ? decodeYaml(body).value : parseJson(body).value;
}

/** Characters of a recorded list; a longer list is not recorded. */
const listCharactersMax = 16 << 20;

/**
 * Records a list.
 * @returns a copy whose entries can be read again
 */
export function auditedList(
  { audit }: RequestContext,
  result: ListResult,
  piecesOf: (result: ListResult) => Iterable<Piece>,
): ListResult {
  const whole = { ...result, entries: [...result.entries] };
  audit?.responseObject(() => {
    let text = "";
    for (const piece of piecesOf(whole)) {
      text += piece.encode().toString();
      if (text.length > listCharactersMax) return undefined;
    }
    return text.trimEnd();
  });
  return whole;
}

/** Records the options of a deletion. */
export function auditDeleteOptions(audit: RequestAudit | undefined): SentOptions["decoded"] {
  return (options) => audit?.requestObject(undefined, () => auditedOptions(options));
}
