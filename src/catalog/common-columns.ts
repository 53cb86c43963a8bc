/**
 * Table columns that many kinds share. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import { humanDuration } from "../lib/duration/duration.ts";
import { memo } from "../lib/memo/memo.ts";
import type { Column, TimedCell } from "./strategy-contract.ts";

/** The name of the object. */
export const nameColumn: Column = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  priority: 0,
  value: nameOf,
};

/** Of `metadata.creationTimestamp`. */
export const creationDescription =
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata";

/** The time since the creation of the object. */
export const ageColumn: Column = {
  name: "Age",
  type: "string",
  description: creationDescription,
  priority: 0,
  value: ({ metadata }) => age(metadata.creationTimestamp),
};

const createdAtColumn: Column = {
  name: "Created At",
  type: "date",
  description: creationDescription,
  priority: 0,
  value: ({ metadata }) => metadata.creationTimestamp ?? "0001-01-01T00:00:00Z",
};

/** The columns of kinds without their own columns. */
export const defaultColumns: readonly Column[] = [nameColumn, createdAtColumn];

const customScaleTexts: Readonly<Record<string, Partial<Column>>> = {
  Name: { format: "name" },
  Desired: { description: "Number of desired replicas" },
  Available: { description: "Number of actual replicas" },
  Age: { type: "date" },
};

/** The columns of autoscaling/v1 Scale, the kind of `scale` subresources. */
export const scaleColumns: readonly Column[] = [
  { ...nameColumn, format: "" },
  {
    name: "Desired",
    type: "integer",
    description: "replicas is the desired number of instances for the scaled object.",
    priority: 0,
    value: ({ spec }) => spec?.replicas ?? 0,
  },
  {
    name: "Available",
    type: "integer",
    description: "replicas is the actual number of observed instances of the scaled object.",
    priority: 0,
    value: ({ status }) => status?.replicas ?? 0,
  },
  ageColumn,
];

/** Those of a custom resource. Source: scaleColumns of apiextensions-apiserver. */
export const customScaleColumns: readonly Column[] = scaleColumns.map((column) => ({
  ...column,
  ...customScaleTexts[column.name],
}));

/** The name of an object; empty if it has none. */
export function nameOf({ metadata }: KubeObject): string {
  return metadata.name ?? "";
}

/** The time since a point in time, such as `3d4h`; `<unknown>` without one. @param time RFC 3339 */
export function age(time: string | undefined | null): string | TimedCell {
  return time === undefined || time === null ? "<unknown>" : since(time);
}

/** The time since a point in time, such as `3d4h`. @param time RFC 3339 */
export function since(time: string): TimedCell {
  return cellsSince(time, () => {
    const at = Date.parse(time);
    return (now) => humanDuration(now - at);
  });
}

/** Objects that were created together share a cell. */
const cellsSince = memo<TimedCell>(1000);
