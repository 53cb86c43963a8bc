/**
 * `/scale`: an object's replicas as an autoscaling/v1 Scale. Source: ScaleREST of the workloads
 * upstream.
 */
import assert from "node:assert/strict";
import { ApiError, badRequest } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { customScaleColumns, scaleColumns } from "../../catalog/common-columns.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { type ApplyRequest, applyBody } from "../../registry/apply.ts";
import type { ExpectedKind } from "../../registry/body-kind.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { type DecodeOptions, decodeBody, expectedSubresourceKind } from "../../registry/decode-body.ts";
import { getEntry } from "../../registry/get.ts";
import { scaleContext } from "../../registry/managed-fields/merge-context.ts";
import { scaleVersion } from "../../registry/managed-fields/scale.ts";
import { type PatchRequest, patchTree } from "../../registry/patch.ts";
import { checkNames } from "../../registry/prepare.ts";
import { readScale, scaledObject, scaleMapping, updateScale } from "../../registry/scale.ts";
import type { RequestContext } from "../contract.ts";
import type { Shown } from "../representation/contract.ts";
import { sendShown } from "../representation/object.ts";
import { checkSingle, metadataShown } from "../representation/partial-metadata.ts";
import { tableOfScale, tableShown } from "../representation/table.ts";
import { encodeWithVersion, type VersionedJson } from "../representation/version.ts";
import { decodeOptions, type WriteOptions } from "./write-request.ts";

/**
 * Serves a GET.
 * @throws ApiError 404, 405
 */
export async function getScale(context: RequestContext): Promise<void> {
  const { info } = context;
  const resolved = context.resolved as Resolved;
  const { resource } = resolved;
  const mapping = scaleMapping(resolved);
  const request = {
    namespace: info.namespace,
    name: info.name,
    resourceVersion: info.query.get("resourceVersion") ?? "",
  };
  const entry = await getEntry(resource, request);
  sendScale(
    context,
    readScale(mapping, await scaledObject(resolved, entry, { cached: request.resourceVersion !== "" })),
  );
}

/**
 * Serves a PUT.
 * @throws ApiError 400, 403, 404, 409, 422
 */
export async function putScale(
  context: RequestContext,
  registry: RegistryContext,
  request: WriteRequest,
  body: Buffer,
  options: WriteOptions,
): Promise<void> {
  const decode = async (): Promise<KubeObject> => decodeScale(body, context, decodeOptions(context, registry, options));
  const sent = await decode();
  checkNames(sent, request); // Errors of the body precede errors of the object.
  const { uid = "" } = sent.metadata;
  sendScale(
    context,
    await updateScale(registry, { ...request, uid, ifMatch: context.exchange.header("if-match"), next: decode }),
  );
}

/** Upstream's scheme of custom resources has no Scale, and this error replaces those of the body. */
const unknownScaleType = 'no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"';

/** @throws ApiError 400, 415 */
function decodeScale(body: Buffer, context: RequestContext, options: DecodeOptions): KubeObject {
  try {
    return decodeBody(body, scaleKind(context), options);
  } catch (error) {
    const isCustom = context.resolved?.resource.definition.custom === true;
    if (isCustom && error instanceof ApiError && error.status.code === 400) throw badRequest(unknownScaleType);
    throw error;
  }
}

/**
 * Serves a PATCH other than apply.
 * @throws ApiError 400, 403, 404, 409, 413, 422
 */
export async function patchScale(
  context: RequestContext,
  registry: RegistryContext,
  request: PatchRequest,
): Promise<void> {
  const expected = { ...scaleKind(context), isHub: request.target.resource.definition.custom };
  sendScale(
    context,
    await updateScale(registry, {
      ...request,
      isPatch: true,
      next: (current) => patchTree(registry.catalog, request, current, expected),
    }),
  );
}

/**
 * Upstream handles the merged Scale as a custom resource, so that no apply can change the scale of
 * one.
 */
const customScaleProblem = `request to convert CR to an invalid group/version: ${scaleVersion}`;

/**
 * Serves an apply.
 * @throws ApiError 400, 403, 404, 409, 422, 500
 */
export async function applyScale(
  context: RequestContext,
  registry: RegistryContext,
  request: ApplyRequest,
): Promise<void> {
  const { kind, schema } = scaleKind(context);
  const unconvertible = context.resolved?.resource.definition.custom ? customScaleProblem : undefined;
  const applied = { apiVersion: scaleVersion, kind, schema, context: scaleContext(), unconvertible };
  const next = async (current: () => KubeObject): Promise<KubeObject> =>
    applyBody(registry, request, applied, current());
  sendScale(context, await updateScale(registry, { ...request, isPatch: true, tracksManagers: false, next }));
}

function scaleKind({ info, resolved }: RequestContext): ExpectedKind {
  const target = resolved as Resolved;
  const subresource = target.version.subresources.find(({ name }) => name === info.subresource);
  const expected = subresource && expectedSubresourceKind(target, subresource);
  assert.ok(expected !== undefined, "a scale has a schema");
  return expected;
}

function sendScale(context: RequestContext, scale: KubeObject): void {
  const { representation, receivedAt, resolved } = context;
  const { shape } = representation;
  const { kind, schema } = scaleKind(context);
  const encode = (): VersionedJson => encodeWithVersion(scale, schema);
  const shown: Shown = {
    apiVersion: scaleVersion,
    kind,
    json: () => encode().json,
    message: () => encodeProtobuf(scale, schema),
    schema,
  };
  if (shape.kind === "metadata") {
    checkSingle(shape, { group: "autoscaling", kind, custom: false });
    return sendShown(context, 200, metadataShown(scale.metadata, shape));
  }
  const columns = resolved?.resource.definition.custom === true ? customScaleColumns : scaleColumns;
  if (shape.kind === "table")
    return sendShown(
      context,
      200,
      tableShown(shape, () => tableOfScale(scale, columns, encode, shape, receivedAt)),
    );
  sendShown(context, 200, shown);
}
