/**
 * Finds the objects that existed when a recorded session began. The first recorded state of an
 * object counts. Objects that were created during the session do not belong to it.
 */

import { isObject } from "../../lib/json/values.ts";
import { infoOfTarget } from "../../request/request-info.ts";
import { escapeSegment } from "./escape-segment.ts";
import type { RecordedRequest } from "./replay.ts";

/** An object that existed. */
export interface InitialObject {
  /** The path of the collection, without a query, such as `/api/v1/namespaces/default/secrets`. */
  readonly collection: string;
  readonly resource: string;
  /** Empty for objects without namespace. */
  readonly namespace: string;
  readonly name: string;
  /** As recorded; undefined if only its metadata was recorded, such as in a Table. */
  readonly object: RecordedObject | undefined;
}

/** An object with name, kind and apiVersion. */
export type RecordedObject = Readonly<Record<string, unknown>> & { readonly metadata: Metadata };

export type Metadata = Readonly<Record<string, unknown>> & { readonly name: string };

/** Objects in a body of the recording. */
interface Seen {
  readonly at: number;
  readonly request: RecordedRequest["request"];
  readonly body: unknown;
}

/** @returns the objects in the order in which the recording first contains them */
export function initialState(recorded: readonly RecordedRequest[]): readonly InitialObject[] {
  const created = createdUids(recorded);
  const found = new Map<string, InitialObject>();
  for (const { request, body } of seenBodies(recorded)) {
    const info = infoOfTarget(request.path);
    if (info === undefined || !info.isResourceRequest || info.subresource !== "") continue;
    for (const { object, metadata } of objectsIn(body)) {
      if (typeof metadata.uid !== "string" || created.has(metadata.uid)) continue;
      const namespace = typeof metadata.namespace === "string" ? metadata.namespace : "";
      const key = [info.group, info.resource, namespace, metadata.name].join("/");
      if (found.get(key)?.object !== undefined) continue;
      const scope = namespace === "" ? "" : `namespaces/${escapeSegment(namespace)}/`;
      const root = info.group === "" ? "/api" : `/apis/${escapeSegment(info.group)}`;
      const collection = `${root}/${escapeSegment(info.version)}/${scope}${escapeSegment(info.resource)}`;
      found.set(key, { collection, resource: info.resource, namespace, name: metadata.name, object });
    }
  }
  return [...found.values()];
}

/** The UIDs of objects that the session created, or that a watch showed to be created. */
function createdUids(recorded: readonly RecordedRequest[]): ReadonlySet<string> {
  const uids = new Set<string>();
  const add = (body: unknown): void => {
    for (const { metadata } of objectsIn(body)) if (typeof metadata.uid === "string") uids.add(metadata.uid);
  };
  for (const { request, answer, events } of recorded) {
    if (answer?.status === 201) add(jsonOf(answer.body));
    if (!showsOnlyChanges(request)) continue;
    for (const { body } of events) {
      const event = jsonOf(body);
      if (isObject(event) && event.type === "ADDED") add(event.object);
    }
  }
  return uids;
}

/**
 * Whether the watch began after a list. Otherwise, its first events are existing objects. With a
 * selector, an added object can be an existing one that matches since a change.
 */
function showsOnlyChanges({ query }: RecordedRequest["request"]): boolean {
  const values = new Map(query);
  const from = values.get("resourceVersion") ?? "";
  const isSelecting = (values.get("labelSelector") ?? "") !== "" || (values.get("fieldSelector") ?? "") !== "";
  return from !== "" && from !== "0" && !isSelecting && values.get("sendInitialEvents") !== "true";
}

/** The bodies of successful answers and the objects of events, in their order. */
function seenBodies(recorded: readonly RecordedRequest[]): readonly Seen[] {
  const seen: Seen[] = [];
  for (const { request, answer, answeredAt, events } of recorded) {
    if (answer === undefined || answer.status >= 300) continue;
    seen.push({ at: answeredAt, request, body: jsonOf(answer.body) });
    for (const { at, body } of events) {
      const event = jsonOf(body);
      if (isObject(event) && event.type !== "BOOKMARK" && event.type !== "ERROR")
        seen.push({ at, request, body: event.object });
    }
  }
  return seen.sort((a, b) => a.at - b.at);
}

function jsonOf(body: object | undefined): unknown {
  return body !== undefined && "json" in body ? body.json : undefined;
}

interface Found {
  readonly object: RecordedObject | undefined;
  readonly metadata: Metadata;
}

/** An object, the items of a list, or the rows of a Table. */
function objectsIn(body: unknown): readonly Found[] {
  if (!isObject(body)) return [];
  const { kind, apiVersion, items, rows } = body;
  if (kind === "Table") return Array.isArray(rows) ? rows.flatMap((row) => objectsIn(isObject(row) && row.object)) : [];
  if (typeof kind !== "string" || typeof apiVersion !== "string") return [];
  // Items of built-in lists have no kind.
  if (Array.isArray(items) && kind.endsWith("List"))
    return items.flatMap((item) =>
      isObject(item)
        ? objectsIn({
            ...item,
            kind: item.kind ?? kind.slice(0, -"List".length),
            apiVersion: item.apiVersion ?? apiVersion,
          })
        : [],
    );
  if (!hasName(body)) return [];
  const isPartial = kind === "PartialObjectMetadata";
  return [{ object: isPartial ? undefined : body, metadata: body.metadata }];
}

function hasName(value: Record<string, unknown>): value is RecordedObject {
  return isObject(value.metadata) && typeof value.metadata.name === "string" && value.metadata.name !== "";
}
