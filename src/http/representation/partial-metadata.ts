/**
 * PartialObjectMetadata of meta.k8s.io, `v1` and `v1beta1`, and lists of it. See Kubernetes docs,
 * API Concepts, Resource metadata.
 */
import assert from "node:assert/strict";
import { ApiError } from "../../apimachinery/errors.ts";
import { internalMetadata, type KubeObject, type ObjectMeta } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type { Resolved, ResourceDefinition } from "../../catalog/contract.ts";
import { memberBytes } from "../../lib/json/member.ts";
import { encodeProtobuf } from "../../lib/protobuf/encode.ts";
import { decodeEncoded } from "../../lib/schema/decode.ts";
import { encodeValue } from "../../lib/schema/encode.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Shape } from "../contract.ts";
import type { Shown, View } from "./contract.ts";
import { MessageCache } from "./message-cache.ts";
import { metaObject } from "./meta-object.ts";

type MetadataShape = Shape & { kind: "metadata" };

type Version = MetadataShape["version"];

const metaPackage = "io.k8s.apimachinery.pkg.apis.meta.v1";
const kind = "PartialObjectMetadata";
const label = Buffer.from('"metadata":');
const tail = Buffer.from("}");
const heads = { v1: headOf("v1"), v1beta1: headOf("v1beta1") };

function headOf(version: Version): Buffer {
  return Buffer.from(`{"kind":"${kind}","apiVersion":"meta.k8s.io/${version}","metadata":`);
}

const views = { v1: new WeakMap<Resolved, View>(), v1beta1: new WeakMap<Resolved, View>() };

/** The metadata of stored objects: slices of cached bytes. */
export function metadataView({ version }: Pick<MetadataShape, "version">, resolved: Resolved): View {
  let view = views[version].get(resolved);
  if (view === undefined) {
    view = makeView(version, resolved);
    views[version].set(resolved, view);
  }
  return view;
}

function makeView(version: Version, resolved: Resolved): View {
  const { definition } = resolved.resource;
  const metadata = (entry: Entry): Buffer => metadataOf(entry.json, definition);
  const message: View["message"] = (entry, options) =>
    cacheOf(definition).get(entry, () => messageOf(metadata(entry)), options);
  return {
    apiVersion: `meta.k8s.io/${version}`,
    kind,
    listKind: `${kind}List`,
    schema: builtinSchema(`${metaPackage}.${kind}`),
    of: (entry) => ({ ...shownOf(() => metadata(entry), version), message: () => message(entry) }),
    itemHead: heads[version],
    item: (entry) => ({ json: metadata(entry), itemOffset: 0 }),
    itemTail: tail,
    noItems: "null", // As upstream.
    message,
    listFields: version === "v1" ? { metadata: 1, items: 2 } : { metadata: 2, items: 1 },
    sorted: false,
  };
}

/**
 * The metadata of an object that is not stored.
 * @param metadata as it is stored
 */
export function metadataShown(metadata: ObjectMeta, { version }: Pick<MetadataShape, "version">): Shown {
  return shownOf(() => encodeMetadata(metadata), version);
}

/** The metadata of objects that are not stored, as a list without a resourceVersion. */
export function metadataListOf(
  objects: readonly KubeObject[],
  { version }: Pick<MetadataShape, "version">,
  { strategy }: ResourceDefinition,
): Shown {
  const apiVersion = `meta.k8s.io/${version}`;
  const items = objects.map(({ metadata }) => ({
    kind,
    apiVersion,
    metadata: internalMetadata(metadata, strategy),
  }));
  return metaObject({ kind: `${kind}List`, apiVersion, metadata: {}, items: items.length === 0 ? null : items });
}

function shownOf(metadata: () => Buffer, version: Version): Shown {
  return {
    apiVersion: `meta.k8s.io/${version}`,
    kind,
    json: () => Buffer.concat([heads[version], metadata(), tail]),
    message: () => messageOf(metadata()),
    schema: builtinSchema(`${metaPackage}.${kind}`),
  };
}

/**
 * @param json of an object
 * @returns that of its metadata, which upstream encodes in field order even where the object's keys
 *   are sorted
 */
export function metadataOf(json: Buffer, { custom, strategy }: ResourceDefinition): Buffer {
  const bytes = memberBytes(json, label);
  assert.ok(bytes !== undefined, "every object has metadata");
  const { fieldAnnotation } = strategy;
  if (!custom && (fieldAnnotation === undefined || !bytes.includes(fieldAnnotation))) return bytes;
  const metadata = decodeEncoded(bytes, builtinSchema(`${metaPackage}.ObjectMeta`)) as unknown as ObjectMeta;
  return encodeMetadata(internalMetadata(metadata, strategy));
}

/** @param metadata as it is shown */
export function encodeMetadata(metadata: ObjectMeta): Buffer {
  return Buffer.from(encodeValue(metadata, builtinSchema(`${metaPackage}.ObjectMeta`)));
}

function messageOf(metadata: Buffer): Buffer {
  const object = {
    metadata: decodeEncoded(metadata, builtinSchema(`${metaPackage}.ObjectMeta`)) as unknown as KubeObject["metadata"],
  };
  return encodeProtobuf(object, builtinSchema(`${metaPackage}.${kind}`), { expectedBytes: metadata.length });
}

/** Limit of each half of the message cache of a resource. Messages are the same at all versions. */
const keptBytesMax = 8 << 20;
const caches = new WeakMap<ResourceDefinition, MessageCache>(); // Memo of immutable values: entries.

function cacheOf(definition: ResourceDefinition): MessageCache {
  let cache = caches.get(definition);
  if (cache === undefined) {
    cache = new MessageCache({ halfBytesMax: keptBytesMax });
    caches.set(definition, cache);
  }
  return cache;
}

/**
 * @param object the object to send
 * @throws ApiError 406 when only lists are accepted
 */
export function checkSingle(
  { list }: MetadataShape,
  object: Pick<ResourceDefinition, "group" | "kind" | "custom">,
): void {
  if (list)
    throw unfit(`you requested ${kind}List, but the requested object is not a list (*${goType(object, object.kind)})`);
}

/** @throws ApiError 406 when only single objects are accepted */
export function checkList({ list }: MetadataShape, { definition }: Resolved["resource"]): void {
  if (!list)
    throw unfit(
      `you requested ${kind}, but the requested object is a list (*${goType(definition, definition.listKind)})`,
    );
}

function unfit(message: string): ApiError {
  return new ApiError({ code: 406, reason: "NotAcceptable", message });
}

/** The Go type that upstream's errors name: its internal package and the kind. */
function goType({ group, custom, kind }: Pick<ResourceDefinition, "group" | "kind" | "custom">, name: string): string {
  if (custom) return name === kind ? "unstructured.Unstructured" : "unstructured.UnstructuredList";
  if (group === "" || group === "events.k8s.io") return `core.${name}`;
  if (group === "internal.apiserver.k8s.io") return `apiserverinternal.${name}`;
  return `${group.slice(0, group.indexOf(".") < 0 ? undefined : group.indexOf("."))}.${name}`;
}
