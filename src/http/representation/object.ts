/** Sends one object in the negotiated form. */
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import type { ConvertedVersion, Resolved } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { RequestContext } from "../contract.ts";
import { sendShown } from "../respond.ts";
import type { Shown } from "./contract.ts";
import { metaObject } from "./meta-object.ts";
import { checkList, checkSingle, metadataListOf, metadataShown, metadataView } from "./partial-metadata.ts";
import { tableBody, tableOfObject, tableOfObjects, tableShown } from "./table.ts";
import { objectView, wholeObject } from "./view.ts";

/**
 * Sends a stored object. Like upstream's reads of single objects, it calls the conversion webhook
 * each time.
 *
 * @param options `cached`: allows a cached conversion, for a read at any version
 * @returns a promise only for resources with a conversion webhook
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
  sendShown(context, status, shownEntry(context, entry));
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
  sendEntry(context, shown, status);
}

/**
 * Sends an object that is not stored (a dry run), in the storage version, which must not be used
 * afterwards.
 * @throws ApiError 406 when only a list is accepted
 */
export function sendObject(context: RequestContext, object: KubeObject, status: number): void {
  sendShown(context, status, shownObject(context, object));
}

/**
 * Sends a list of objects that are not stored, without a resourceVersion.
 * @throws ApiError 406 when only a single object is accepted
 */
export function sendObjects(context: RequestContext, objects: readonly KubeObject[]): void {
  sendShown(context, 200, shownObjects(context, objects));
}

function shownObjects(
  { representation: { shape }, receivedAt, resolved: target }: RequestContext,
  objects: readonly KubeObject[],
): Shown {
  const { resource, version } = target as Resolved;
  const { group, listKind } = resource.definition;
  switch (shape.kind) {
    case "object":
      return metaObject({
        kind: listKind,
        apiVersion: formatGroupVersion(group, version.version),
        metadata: {},
        items: objects,
      });
    case "metadata":
      checkList(shape, resource);
      return metadataListOf(objects, shape);
    case "table":
      return tableShown(shape, () => tableOfObjects(objects, target as Resolved, shape, receivedAt));
  }
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
      return metadataShown(wholeObject(object, resolved), shape, resolved.resource.definition);
    case "table":
      return tableShown(shape, () => tableOfObject(object, resolved, shape, receivedAt));
  }
}
