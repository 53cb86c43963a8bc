/** What the columns of the kinds are made of. Texts are upstream's; where a column shows one field, its description is the field's. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Column } from "../catalog/contract.ts";
import { items, type Part } from "./fields.ts";

type Value = Column["value"];

export function text(name: string, description: string, value: Value): Column {
  return { name, type: "string", description, priority: 0, value };
}

export function integer(name: string, description: string, value: Value): Column {
  return { name, type: "integer", description, priority: 0, value };
}

export function flag(name: string, description: string, value: Value): Column {
  return { name, type: "boolean", description, priority: 0, value };
}

/** Shown only in wide output. */
export function wide(column: Column): Column {
  return { ...column, priority: 1 };
}

/** @param podSpecOf of the template; undefined where there is none */
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

/** `a=b,c=d` */
export function formatLabels(labels: Readonly<Record<string, string>> | undefined): string {
  const pairs = Object.entries(labels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  return pairs.map(([key, value]) => `${key}=${value}`).join(",") || "<none>";
}

export { formatLabelSelectorObject as formatSelector } from "../lib/selectors/label-object.ts";

/** The first three, and how many more there are. */
export function firstThree(all: readonly string[]): string {
  const shown = all.slice(0, 3).join(",");
  return all.length > 3 ? `${shown} + ${all.length - 3} more...` : shown;
}

export function count(of: unknown): number {
  return Array.isArray(of) ? of.length : Object.keys(of ?? {}).length;
}

/** Whether the condition is there and `True`. */
export function isTrue(conditions: unknown, type: string): boolean {
  return items(conditions).find((condition) => condition.type === type)?.status === "True";
}
