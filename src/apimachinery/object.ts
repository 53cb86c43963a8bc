/** Words every part shares: what an object, a kind and a resource are. */
import type { ManagedFieldsEntry } from "../lib/managed-fields/entries.ts";

export type { ManagedFieldsEntry } from "../lib/managed-fields/entries.ts";

export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  selfLink?: string;
  uid?: string;
  resourceVersion?: string;
  generation?: number | bigint;
  creationTimestamp?: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number | bigint;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: OwnerReference[];
  finalizers?: string[];
  managedFields?: ManagedFieldsEntry[];
}

/** A decoded object: plain data, owned by whoever decoded it, checked against its schema. Map keys may be any text, `__proto__` included. */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  // biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types; kinds read their own fields.
  [field: string]: any;
}

/** `v1`, or `apps/v1`. */
export function formatGroupVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/** @returns undefined when the text is no group version, such as `a/b/c`. The empty text is the empty group and version. */
export function parseGroupVersion(text: string): { group: string; version: string } | undefined {
  const parts = text.split("/");
  if (parts.length === 1) return { group: "", version: text };
  if (parts.length === 2) return { group: parts[0] as string, version: parts[1] as string };
  return undefined;
}

/** `deployments.apps`, or `pods` for the core group: the form error messages use. */
export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** `Deployment.apps`, or `Pod` for the core group: the form validation errors use. */
export function formatGroupKind(group: string, kind: string): string {
  return group === "" ? kind : `${kind}.${group}`;
}
