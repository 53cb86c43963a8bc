/** The view of a resource's objects that a request receives. */
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import type { Shown, View } from "./contract.ts";
import { entryMessage, objectMessage } from "./message.ts";
import { encodeAtVersion, entryAtVersion, type VersionedJson } from "./version.ts";

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
export function wholeObject(object: KubeObject, resolved: Resolved): Shown {
  const { definition } = resolved.resource;
  return {
    apiVersion: formatGroupVersion(definition.group, resolved.version.version),
    kind: definition.kind,
    json: () => encodeAtVersion(object, resolved).json,
    message: () => objectMessage(object, resolved),
    schema: definition.custom ? undefined : resolved.version.schema,
  };
}
