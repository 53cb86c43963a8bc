/**
 * Counts the open watches that a write may concern.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/watch_tracker.go.
 */

import { parseFieldSelector, requiresExactMatch } from "../../lib/selectors/field.ts";
import { SelectorError } from "../../lib/selectors/selector-error.ts";
import type { RequestInfo } from "../../request/request-info.ts";

type Watched = Pick<RequestInfo, "group" | "resource" | "namespace" | "name">;

/** The numbers of open watches, one counter for each scope that has any. */
export class WatchCounts {
  readonly #counts = new Map<string, number>();

  /**
   * Adds a watch.
   * @returns a function that removes it
   */
  add(info: Watched & Pick<RequestInfo, "query">): () => void {
    if (info.resource === "pods" && isOfOneNode(info.query)) return () => {};
    const key = keyOf(info.group, info.resource, info.namespace, info.name);
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    return () => {
      const left = (this.#counts.get(key) ?? 0) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }

  /** The watches of all objects, of the namespace, and of the object. */
  interestedIn({ group, resource, namespace, name }: Watched): number {
    if (this.#counts.size === 0) return 0;
    const count = (inNamespace: string, ofName: string): number =>
      this.#counts.get(keyOf(group, resource, inNamespace, ofName)) ?? 0;
    return count("", "") + (namespace === "" ? 0 : count(namespace, "")) + (name === "" ? 0 : count(namespace, name));
  }
}

const keyOf = (group: string, resource: string, namespace: string, name: string): string =>
  `${group}/${resource}/${namespace}/${name}`;

/** Pods are indexed by their node: most watches of one node's pods have nothing to do with a write. */
function isOfOneNode(query: URLSearchParams): boolean {
  const text = query.get("fieldSelector") ?? "";
  if (!text.includes("spec.nodeName")) return false;
  try {
    return (requiresExactMatch(parseFieldSelector(text), "spec.nodeName") ?? "") !== "";
  } catch (error) {
    if (error instanceof SelectorError) return false; // The endpoint rejects it.
    throw error;
  }
}
