/** The stored PriorityClasses by name, and their default. */
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { Catalog } from "../../../catalog/contract.ts";
import { followObjects } from "../../configurations.ts";

/** What the plugin needs of a PriorityClass. */
export interface PriorityClass {
  readonly name: string;
  readonly value: number;
  readonly preemptionPolicy: string | undefined;
  readonly isDefault: boolean;
}

/** An index of all classes, rebuilt when one of them has changed. */
export interface PriorityClasses {
  readonly byName: ReadonlyMap<string, PriorityClass>;
  /** If several classes are marked as default, the one with the lowest value. */
  readonly byDefault: PriorityClass | undefined;
}

/** @returns a function that returns the classes stored before the call */
export function priorityClasses(catalog: Pick<Catalog, "findResource" | "generation">): () => Promise<PriorityClasses> {
  const classes = followObjects(catalog, { group: "scheduling.k8s.io", resource: "priorityclasses" }, priorityClassOf);
  let indexed: readonly PriorityClass[] | undefined;
  let index: PriorityClasses;
  return async () => {
    if (!classes.isLoaded()) await classes.load();
    const current = classes.current();
    if (current !== indexed) [index, indexed] = [createIndex(current), current];
    return index;
  };
}

function priorityClassOf({ metadata, value = 0, preemptionPolicy, globalDefault }: KubeObject): PriorityClass {
  return { name: metadata.name ?? "", value, preemptionPolicy, isDefault: globalDefault === true };
}

function createIndex(classes: readonly PriorityClass[]): PriorityClasses {
  const [lowest] = classes.filter(({ isDefault }) => isDefault).sort((one, other) => one.value - other.value);
  return { byName: new Map(classes.map((one) => [one.name, one])), byDefault: lowest };
}
