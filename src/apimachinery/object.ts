/**
 * Types of objects, kinds and resources that all parts of the server share. Source: Kubernetes
 * API conventions, headings "Types (Kinds)" and "Metadata".
 */
import type { ManagedFieldsEntry } from "../lib/managed-fields/entries.ts";

export type { ManagedFieldsEntry } from "../lib/managed-fields/entries.ts";

/** Identifies a kind in one version. */
export interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/** Identifies a resource in one version. */
export interface GroupVersionResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
}

/** Identifies a resource in all versions. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** An entry of `metadata.ownerReferences`. */
export interface OwnerReference {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
  controller?: boolean;
  blockOwnerDeletion?: boolean;
}

/** The `metadata` of an object. */
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

/**
 * A decoded object: plain data that the decoder has checked against the schema and that its caller
 * owns. Map keys can be any text, including `__proto__`.
 */
export interface KubeObject {
  apiVersion?: string;
  kind?: string;
  metadata: ObjectMeta;
  // biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types; kinds read their own fields.
  [field: string]: any;
}

/** @returns `v1` or `apps/v1` */
export function formatGroupVersion(group: string, version: string): string {
  return group === "" ? version : `${group}/${version}`;
}

/**
 * @returns undefined if the text is not a group version, such as `a/b/c`; empty group and version
 *   for the empty text
 */
export function parseGroupVersion(text: string): { group: string; version: string } | undefined {
  const parts = text.split("/");
  if (parts.length === 1) return { group: "", version: text };
  if (parts.length === 2) return { group: parts[0] as string, version: parts[1] as string };
  return undefined;
}

/** @returns `deployments.apps`, or `pods` for the core group, as error messages name resources */
export function formatGroupResource({ group, resource }: GroupResource): string {
  return group === "" ? resource : `${resource}.${group}`;
}

/** @returns `Deployment.apps`, or `Pod` for the core group, as validation errors name kinds */
export function formatGroupKind(group: string, kind: string): string {
  return group === "" ? kind : `${kind}.${group}`;
}

/** Metadata as upstream's internal type has it: without the annotation that is a field there. */
export function internalMetadata(
  metadata: ObjectMeta,
  { fieldAnnotation }: { readonly fieldAnnotation: string | undefined },
): ObjectMeta {
  if (fieldAnnotation === undefined || metadata.annotations?.[fieldAnnotation] === undefined) return metadata;
  const annotations = { ...metadata.annotations };
  delete annotations[fieldAnnotation];
  const internal: ObjectMeta = { ...metadata, annotations };
  if (Object.keys(annotations).length === 0) delete internal.annotations;
  return internal;
}
