/** The request that policies are tested with, from the files and flags of the command. */
import { parseGroupVersion } from "../../apimachinery/object.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { readResourcesTable } from "../../catalog/resources-table.ts";
import { isObject } from "../../lib/json/values.ts";
import { InputError, type PlainObject, readDocument } from "../cel/documents.ts";

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

/** @throws InputError */
export function testedRequest(options: RequestOptions): TestedRequest {
  const object = options.object === undefined ? null : readObject(options.object);
  const oldObject = options.old === undefined ? null : readObject(options.old);
  const subject = object ?? oldObject;
  if (subject === null) throw new InputError("--object or --old is required");
  const { group, version } = parseGroupVersion(String(subject.apiVersion)) ?? { group: "", version: "" };
  const kind = String(subject.kind);
  const metadata = isObject(subject.metadata) ? subject.metadata : {};
  const namespaceObject = options.namespace === undefined ? undefined : readObject(options.namespace);
  const namespace = String(
    metadata.namespace ?? (isObject(namespaceObject?.metadata) ? namespaceObject.metadata.name : ""),
  );
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

/** Reads an object. @throws InputError */
export function readObject(file: string): PlainObject {
  const document = readDocument(file);
  if (!isObject(document)) throw new InputError(`${file} has no object`);
  if (typeof document.apiVersion !== "string" || typeof document.kind !== "string")
    throw new InputError(`${file}: the object has no apiVersion or no kind`);
  return document;
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
