/** POST of `serviceaccounts/token`: nothing is stored, and the response contains a token. */

import { methodNotAllowed } from "../../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import type { ExpectedKind } from "../../registry/body-kind.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { type DecodeOptions, decodeBody, expectedSubresourceKind } from "../../registry/decode-body.ts";
import { trackAnswer } from "../../registry/managed-fields/track-answer.ts";
import { admissionAttributes, checkNamespace } from "../../registry/prepare.ts";
import type { Endpoint, RequestContext } from "../contract.ts";
import { sendShown } from "../representation/object.ts";
import { encodeWithVersion } from "../representation/version.ts";
import { bodyBytesMax, checkContentType, decodeOptions, readWriteOptions, writeRequest } from "./write-request.ts";

/** The steps of a token request. */
export interface TokenRequests {
  setDefaults(sent: KubeObject): void;
  prepare(registry: RegistryContext, request: WriteRequest, sent: KubeObject): Promise<void>;
  issue(registry: RegistryContext, request: WriteRequest, sent: KubeObject): Promise<KubeObject>;
}

/**
 * Creates the endpoint, which throws ApiError 400, 403 (admission), 404, 405, 409, 413, 415, 422.
 */
export function tokenRequestEndpoint(tokens: TokenRequests): Endpoint {
  return async (context, registry) => {
    const { info, exchange } = context;
    if (info.verb !== "create") throw methodNotAllowed();
    checkContentType(context);
    const bytes = await exchange.body(bodyBytesMax);
    const options = readWriteOptions("CreateOptions", info.query);
    const request = { ...writeRequest(context, options), name: info.name };
    const expected = tokenRequestKind(context.resolved as Resolved);
    const sent = decodeBody(bytes, expected, withDefaults(decodeOptions(context, registry, options), tokens));
    checkNamespace(sent, request.namespace);
    tokens.setDefaults(sent);
    trackAnswer(registry, request, sent, {
      apiVersion: formatGroupVersion(expected.group, expected.version),
      schema: expected.schema,
    });
    const attributes = admissionAttributes(request, { operation: "CREATE", object: sent });
    await registry.admission.mutate(attributes);
    await tokens.prepare(registry, request, sent);
    await registry.admission.validate(attributes);
    sendTokenRequest(context, await tokens.issue(registry, request, sent), expected);
  };
}

/** The audit event has the body with its defaults. */
function withDefaults({ decoded, ...options }: DecodeOptions, { setDefaults }: TokenRequests): DecodeOptions {
  if (decoded === undefined) return options;
  return {
    ...options,
    decoded: (object, kind, again) =>
      decoded(object, kind, () => {
        const copy = again();
        setDefaults(copy);
        return copy;
      }),
  };
}

/** @throws ApiError 405 when the version has no such subresource */
function tokenRequestKind(target: Resolved): ExpectedKind {
  const subresource = target.version.subresources.find(({ name }) => name === "token");
  const kind = subresource && expectedSubresourceKind(target, subresource);
  if (kind === undefined) throw methodNotAllowed();
  return kind;
}

function sendTokenRequest(
  context: RequestContext,
  object: KubeObject,
  { group, version, kind, schema }: ExpectedKind,
): void {
  const apiVersion = formatGroupVersion(group, version);
  sendShown(context, 201, {
    apiVersion,
    kind,
    schema,
    json: () => encodeWithVersion({ ...object, apiVersion, kind }, schema).json,
    message: () => encodeProtobuf(object, schema),
  });
}
