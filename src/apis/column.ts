/**
 * Building blocks of table columns. Descriptions are upstream's: that of the field, where a column
 * shows one field.
 */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Column } from "../catalog/strategy-contract.ts";
import { items, type Part } from "./fields.ts";

type Value = Column["value"];

/** A column of strings. */
export function text(name: string, description: string, value: Value): Column {
  return { name, type: "string", description, priority: 0, value };
}

/** A column of integers. */
export function integer(name: string, description: string, value: Value): Column {
  return { name, type: "integer", description, priority: 0, value };
}

/** A column of booleans, as text. */
export function flag(name: string, description: string, value: Value): Column {
  return { name, type: "boolean", description, priority: 0, value };
}

/** Shown only in wide output. */
export function wide(column: Column): Column {
  return { ...column, priority: 1 };
}

/**
 * The columns CONTAINERS and IMAGES.
 * @param podSpecOf returns the spec of the pod template; undefined without one
 */
export function containerColumns(podSpecOf: (object: KubeObject) => Part | undefined): Column[] {
  const list = (field: string) => (object: KubeObject) =>
    items(podSpecOf(object)?.containers)
      .map((container) => container[field] ?? "")
      .join(",");
  return [
    wide(text("Containers", "Names of each container in the template.", list("name"))),
    wide(text("Images", "Images referenced by each container in the template.", list("image"))),
  ];
}

/** Formats labels as `a=b,c=d`. */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, value]) => `${key}=${value}`).join(",") || "<none>";
}

export { formatLabelSelectorObject as formatSelector } from "../lib/selectors/label-object.ts";

/** Formats the first three values and the number of others. */
export function firstThree(all: readonly string[]): string {
  const shown = all.slice(0, 3).join(",");
  return all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown;
}

/** The length of a list or a map. */
export function count(of: unknown): number {
  return Array.isArray(of) ? of.length : Object.keys(of ?? {}).length;
}

/** Whether the condition exists with status `True`. */
export function isTrue(conditions: unknown, type: string): boolean {
  return items(conditions).find((condition) => condition.type === type)?.status === "True";
}

/**
 * What columns of a large kind read of its metadata, for `cellPaths`, so that a Table reads no more of stored objects.
 * Kinds with columns that name no paths are read without their managed fields. See `pathTree` of lib/json/project.ts.
 */
export const metaCells = ["metadata.name", "metadata.creationTimestamp", "metadata.deletionTimestamp"] as const;

/** What {@link containerColumns} read. @param template the path of the pod template */
export function containerCells(template: string): readonly string[] {
  return [`${template}.spec.containers.name`, `${template}.spec.containers.image`];
}

/** What the columns of kinds with a pod template read. */
export const workloadCells: readonly string[] = [
  ...metaCells,
  ...containerCells("spec.template"),
  "spec.replicas",
  "spec.selector",
  "status",
];
