/** Objects that are computed for each request and read-only (ComponentStatus). */
import { methodNotSupported, notFound } from "../../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { shardHash } from "../../lib/selectors/shard-hash.ts";
import type { ComputedObjects, RegistryContext } from "../../registry/contract.ts";
import { checkListOptions, checkWatchOptions } from "../../registry/list-options.ts";
import { type Selection, selectionOf } from "../../registry/selection.ts";
import { type ListOptions, parseListOptions } from "../../request/list-options.ts";
import type { Endpoint, RequestContext } from "../contract.ts";
import type { Shown } from "../representation/contract.ts";
import { metaObject } from "../representation/meta-object.ts";
import { sendObject, sendShown } from "../representation/object.ts";
import { checkList, metadataListOf } from "../representation/partial-metadata.ts";
import { tableOfObjects, tableShown } from "../representation/table.ts";
import { checkNoExport } from "./get.ts";

/** @returns the endpoints by verb */
export function computedEndpoints(objects: ComputedObjects): Readonly<Record<string, Endpoint>> {
  return {
    get: (context) => getComputed(context, objects),
    list: (context) => listComputed(context, objects),
    watch: rejectWatch,
  };
}

/** @throws ApiError 400, 404, 406 */
async function getComputed(context: RequestContext, { get, missing }: ComputedObjects): Promise<void> {
  const { name, query } = context.info;
  checkNoExport(query);
  const object = await get(name);
  if (object === undefined) throw notFound(missing, name);
  sendObject(context, object, 200);
}

/**
 * Neither `limit` nor a resourceVersion has an effect.
 * @throws ApiError 400, 406
 */
async function listComputed(context: RequestContext, { list }: ComputedObjects): Promise<void> {
  const options = parseListOptions(context.info.query);
  checkListOptions(options);
  const { matches } = selected(context, options);
  const listed = await list();
  sendObjects(
    context,
    listed.filter(({ metadata }) =>
      matches({
        index: { namespace: "", name: metadata.name ?? "", labels: new Map(), fields: fieldsOf(metadata), uidHash },
      }),
    ),
  );
}

/** Computed objects have no uid, and upstream ignores shard selectors of them. */
const uidHash = shardHash(Buffer.alloc(0));

function fieldsOf({ name = "" }: { readonly name?: string }): ReadonlyMap<string, string> {
  return new Map([
    ["metadata.name", name],
    ["metadata.namespace", ""],
  ]);
}

/** @throws ApiError 400 for malformed options, otherwise 405 */
function rejectWatch(context: RequestContext, { gates }: RegistryContext): never {
  const options = parseListOptions(context.info.query);
  checkWatchOptions(options, { initialEvents: gates.enabled("WatchList") });
  selected(context, options);
  throw methodNotSupported((context.resolved as Resolved).resource.definition, "watch");
}

function selected({ resolved }: RequestContext, options: ListOptions): Selection {
  return selectionOf((resolved as Resolved).resource.definition, options);
}

/** Without a resourceVersion. @throws ApiError 406 when only a single object is accepted */
function sendObjects(context: RequestContext, objects: readonly KubeObject[]): void {
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
      return metadataListOf(objects, shape, resource.definition);
    case "table":
      return tableShown(shape, () => tableOfObjects(objects, target as Resolved, shape, receivedAt));
  }
}
