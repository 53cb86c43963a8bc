/** The view of whole objects that a request receives, and the response with one object in the negotiated form. */
import { formatGroupVersion, internalMetadata, type KubeObject } from "../../apimachinery/object.ts";
import type { StatusBody } from "../../apimachinery/status-body.ts";
import type { ConvertedVersion, Resolved } from "../../catalog/contract.ts";
import { send } from "../../request/answer.ts";
import type { RequestAudit, ResponseStatus } from "../../request/audit.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import type { Shown, View } from "./contract.ts";
import { entryMessage, objectMessage } from "./message.ts";
import { checkSingle, metadataShown, metadataView } from "./partial-metadata.ts";
import { tableBody, tableOfObject, tableShown } from "./table.ts";
import { encodeAtVersion, entryAtVersion, type VersionedJson } from "./version.ts";

/** Sends an object in the negotiated form. */
export function sendShown(context: RequestContext, status: number, shown: Shown): void {
  const { encoding } = context.representation;
  context.exchange.entered?.("encode");
  if (context.audit !== undefined) auditShown(context.audit, shown);
  send(context, status, encoding.mediaType, encoding.whole(shown));
}

/** Records a response as JSON. */
export function auditShown(audit: RequestAudit, shown: Shown): void {
  const json = (): string => shown.json().toString();
  if (shown.kind === "Status" && shown.apiVersion === "v1")
    audit.responseStatus(boundedStatus(JSON.parse(json()) as StatusBody));
  audit.responseObject(json);
}

/** The fields of a Status that audit events contain. */
export function boundedStatus({ status, message, reason, details, code }: StatusBody): ResponseStatus {
  return { status, message, reason, details, code } as ResponseStatus;
}

/**
 * Sends a stored object. Like upstream's reads of single objects, it calls the conversion webhook
 * each time.
 *
 * @param options `cached`: allows a cached conversion, for a read at any version
 * @returns a promise only for resources with a conversion webhook, and long objects in YAML
 * @throws ApiError 406 when only a list is accepted; 500
 */
export function sendEntry(
  context: RequestContext,
  entry: Entry,
  status: number,
  { cached = false } = {},
): void | Promise<void> {
  const { converted } = context.resolved as Resolved;
  if (converted !== undefined) return sendConverted(context, converted, entry, status, cached);
  const shown = shownEntry(context, entry);
  const { wholeInSlices } = context.representation.encoding;
  if (wholeInSlices !== undefined && entry.json.length > atOnceBytesMax)
    return sendInSlices(context, status, shown, wholeInSlices(shown));
  sendShown(context, status, shown);
}

/** Longer objects are encoded in slices, where the encoding has them. */
const atOnceBytesMax = 64 << 10;

async function sendInSlices(
  context: RequestContext,
  status: number,
  shown: Shown,
  encoding: Promise<Buffer>,
): Promise<void> {
  if (context.audit !== undefined) auditShown(context.audit, shown);
  send(context, status, context.representation.encoding.mediaType, await encoding);
}

async function sendConverted(
  context: RequestContext,
  converted: ConvertedVersion,
  entry: Entry,
  status: number,
  cached: boolean,
): Promise<void> {
  const shown = cached ? ((await converted.show([entry]))[0] as Entry) : await converted.showReconverted(entry);
  context.resolved = converted.shown;
  await sendEntry(context, shown, status);
}

/**
 * Sends an object that is not stored (a dry run), in the storage version, which must not be used
 * afterwards.
 * @throws ApiError 406 when only a list is accepted
 */
export function sendObject(context: RequestContext, object: KubeObject, status: number): void {
  sendShown(context, status, shownObject(context, object));
}

function shownEntry({ representation: { shape }, receivedAt, resolved: target }: RequestContext, entry: Entry): Shown {
  const resolved = target as Resolved;
  switch (shape.kind) {
    case "object":
      return objectView(resolved).of(entry);
    case "metadata":
      checkSingle(shape, resolved.resource.definition);
      return metadataView(shape, resolved).of(entry);
    case "table":
      return tableShown(shape, () =>
        tableBody([entry], resolved, shape, { resourceVersion: String(entry.revision) }, receivedAt),
      );
  }
}

function shownObject(
  { representation: { shape }, receivedAt, resolved: target }: RequestContext,
  object: KubeObject,
): Shown {
  const resolved = target as Resolved;
  switch (shape.kind) {
    case "object":
      return wholeObject(object, resolved);
    case "metadata":
      checkSingle(shape, resolved.resource.definition);
      return metadataShown(internalMetadata(object.metadata, resolved.resource.definition.strategy), shape);
    case "table":
      return tableShown(shape, () => tableOfObject(object, resolved, shape, receivedAt));
  }
}

const openBrace = Buffer.from("{");
const nothing = Buffer.alloc(0);

const views = new WeakMap<Resolved, View>();

/**
 * Whole objects at the request's version. List items of built-in kinds omit kind and apiVersion.
 */
export function objectView(resolved: Resolved): View {
  let view = views.get(resolved);
  if (view === undefined) {
    view = makeView(resolved);
    views.set(resolved, view);
  }
  return view;
}

function makeView(resolved: Resolved): View {
  const { definition } = resolved.resource;
  const { custom, kind, listKind } = definition;
  const apiVersion = formatGroupVersion(definition.group, resolved.version.version);
  const isStored = isStoredVersion(resolved);
  const atVersion = isStored
    ? (entry: Entry): VersionedJson => entry
    : (entry: Entry): VersionedJson => entryAtVersion(entry, resolved);
  const schema = custom ? undefined : resolved.version.schema;
  return {
    apiVersion,
    kind,
    listKind,
    schema,
    of: isStored
      ? (entry) => ({
          apiVersion,
          kind,
          schema,
          json: () => entry.json,
          line: () => entry.line,
          message: () => entryMessage(entry, resolved),
        })
      : (entry) => ({
          apiVersion,
          kind,
          schema,
          json: () => atVersion(entry).json,
          message: () => entryMessage(entry, resolved),
        }),
    itemHead: custom ? nothing : openBrace,
    item: custom ? (entry) => ({ json: atVersion(entry).json, itemOffset: 0 }) : atVersion,
    itemTail: nothing,
    noItems: "[]",
    message: (entry, options) => entryMessage(entry, resolved, options),
    listFields: { metadata: 1, items: 2 },
    sorted: custom,
  };
}

function isStoredVersion({ resource: { definition, store }, version }: Resolved): boolean {
  return store?.form.version === version.version && store.form.group === definition.group;
}

/**
 * An object that is not stored, to be encoded once.
 * @param object in the storage version; must not be used afterwards
 */
function wholeObject(object: KubeObject, resolved: Resolved): Shown {
  const { definition } = resolved.resource;
  return {
    apiVersion: formatGroupVersion(definition.group, resolved.version.version),
    kind: definition.kind,
    json: () => encodeAtVersion(object, resolved).json,
    message: () => objectMessage(object, resolved),
    schema: definition.custom ? undefined : resolved.version.schema,
  };
}
