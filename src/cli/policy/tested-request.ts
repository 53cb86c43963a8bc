/** The request that policies are tested with, from the files and flags of the command. */

import { parseGroupVersion } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { readResourcesTable } from "../../catalog/resources-table.ts";
import { isObject } from "../../lib/json/values.ts";
import { InputError, type PlainObject, readDocuments } from "../cel/documents.ts";
import { FlagError } from "../flags/contract.ts";

/** The operations that policies distinguish. */
export type TestedOperation = "CREATE" | "UPDATE" | "DELETE";

/** A request without a server. */
export interface TestedRequest {
  readonly operation: TestedOperation;
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly resource: string;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
  readonly name: string;
  /** Null for a deletion. */
  readonly object: PlainObject | null;
  readonly oldObject: PlainObject | null;
  readonly user: UserInfo;
  /** The namespace of the object, with at least a name. */
  readonly namespaceObject: PlainObject | undefined;
}

/** Files and flags. */
export interface RequestOptions {
  readonly object?: string;
  readonly old?: string;
  readonly namespace?: string;
  readonly resource?: string;
  readonly as?: string;
  readonly asGroup?: readonly string[];
}

/**
 * Reads the objects of `--object` and `--old`, which can have several: each is a request of its own.
 *
 * @throws FlagError · InputError
 */
export function testedRequests(options: RequestOptions): TestedRequest[] {
  const objects = options.object === undefined ? [] : readObjects(options.object);
  const olds = options.old === undefined ? [] : readObjects(options.old);
  const namespaces = options.namespace === undefined ? [] : readObjects(options.namespace);
  if (objects.length === 0 && olds.length === 0) throw new FlagError("--object or --old is required");
  if (objects.length === 0) return olds.map((old) => testedRequest(null, old, { options, namespaces }));
  return objects.map((object) => testedRequest(object, oldOf(object, { objects, olds }), { options, namespaces }));
}

/** The old object of the same name; of two single objects, the names need not be equal. @throws InputError without one */
function oldOf(
  object: PlainObject,
  { objects, olds }: { readonly objects: readonly PlainObject[]; readonly olds: readonly PlainObject[] },
): PlainObject | null {
  if (olds.length === 0) return null;
  const old =
    objects.length === 1 && olds.length === 1 ? olds[0] : olds.find((one) => identityOf(one) === identityOf(object));
  if (old === undefined) throw new InputError(`--old has no ${identityOf(object)}`);
  return old;
}

function identityOf({ kind, metadata }: PlainObject): string {
  const { namespace, name } = isObject(metadata) ? metadata : {};
  return [String(kind), ...(namespace === undefined ? [] : [String(namespace)]), String(name ?? "")].join("/");
}

interface Surroundings {
  readonly options: RequestOptions;
  readonly namespaces: readonly PlainObject[];
}

function testedRequest(
  object: PlainObject | null,
  oldObject: PlainObject | null,
  { options, namespaces }: Surroundings,
): TestedRequest {
  const subject = (object ?? oldObject) as PlainObject;
  const { group, version } = parseGroupVersion(String(subject.apiVersion)) ?? { group: "", version: "" };
  const kind = String(subject.kind);
  const metadata = isObject(subject.metadata) ? subject.metadata : {};
  const namespaceObject =
    namespaces.length > 1 ? namespaces.find((one) => nameOf(one) === metadata.namespace) : namespaces[0];
  const namespace = String(metadata.namespace ?? (namespaceObject === undefined ? "" : nameOf(namespaceObject)));
  return {
    operation: object === null ? "DELETE" : oldObject === null ? "CREATE" : "UPDATE",
    ...{ group, version, kind, namespace, object, oldObject },
    resource: options.resource ?? resourceOf(group, kind),
    name: String(metadata.name ?? ""),
    user: {
      name: options.as ?? "system:admin",
      uid: "",
      groups: options.asGroup ?? ["system:authenticated"],
      extra: new Map(),
    },
    namespaceObject:
      namespaceObject ??
      (namespace === ""
        ? undefined
        : { metadata: { name: namespace, labels: { "kubernetes.io/metadata.name": namespace } } }),
  };
}

/** The name in the metadata of an object; empty without one. */
export function nameOf({ metadata }: PlainObject): string {
  return isObject(metadata) ? String(metadata.name ?? "") : "";
}

/** Reads all objects of a file, and the items of lists. @throws InputError for another document, or without any */
export function readObjects(file: string): PlainObject[] {
  const documents = readDocuments(file);
  if (documents.length === 0) throw new InputError(`${file} has no object`);
  return documents.flatMap((document) => {
    if (!isObject(document)) throw new InputError(`${file} has a document that is no object`);
    const objects = document.kind === "List" && Array.isArray(document.items) ? document.items : [document];
    return objects.map((object: unknown) => checkedObject(file, object));
  });
}

/** @throws InputError */
function checkedObject(file: string, object: unknown): PlainObject {
  if (!isObject(object) || typeof object.apiVersion !== "string" || typeof object.kind !== "string")
    throw new InputError(`${file}: the object has no apiVersion or no kind`);
  return object;
}

/**
 * The resource of a built-in kind; for others the plural that Kubernetes' tools guess. Source:
 * `UnsafeGuessKindToResource` in k8s.io/apimachinery@v0.36.0/pkg/api/meta/restmapper.go.
 */
function resourceOf(group: string, kind: string): string {
  const { resources } = readResourcesTable();
  const found = resources.find((row) => row.group === group && row.kind === kind);
  if (found !== undefined) return found.resource;
  const singular = kind.toLowerCase();
  if (singular.endsWith("s")) return `${singular}es`;
  return singular.endsWith("y") ? `${singular.slice(0, -1)}ies` : `${singular}s`;
}
