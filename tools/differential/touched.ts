/** Which collections and cluster-scoped objects the steps of a sequence may change. */
import { isObject } from "../../src/lib/json/values.ts";
import type { Step } from "./contract.ts";

export interface Touched {
  /** Paths of namespaced collections, such as `/api/v1/namespaces/$ns/pods`. */
  readonly collections: readonly string[];
  /** Paths of cluster-scoped objects, and of objects in other namespaces. */
  readonly objects: readonly string[];
}

const writing: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH"]);
/** Resources that are not stored. */
const virtual = /\/(?:bindings|[a-z]+reviews|tokenreviews)$/;

export function touchedBy(steps: readonly Step[]): Touched {
  const collections = new Set<string>();
  const objects = new Set<string>();
  for (const { method, path, body } of steps) {
    if (!writing.has(method)) continue;
    const [place = ""] = path.split("?");
    const namespaced = /^\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/namespaces\/\$ns\/([a-z]+)(?=\/|$)/.exec(place);
    const resource = namespaced?.[1];
    if (namespaced !== null && resource !== "status" && resource !== "finalize") {
      if (!virtual.test(namespaced[0])) collections.add(namespaced[0]);
      continue;
    }
    const [collection, named] = clusterScoped(place);
    if (collection === undefined || virtual.test(collection)) continue;
    const name = named ?? nameOf(body);
    if (name?.startsWith("$ns") || name?.includes(".$ns"))
      objects.add(`${collection}/${encodeURIComponent(name).replaceAll("%24", "$")}`);
  }
  return { collections: [...collections], objects: [...objects] };
}

function clusterScoped(place: string): [collection?: string, name?: string] {
  const found = /^(\/(?:api\/v1|apis\/[^/]+\/[^/]+)\/[a-z]+)(?:\/([^/]+))?/.exec(place);
  return found === null ? [] : [found[1], found[2]];
}

function nameOf(body: unknown): string | undefined {
  const name = isObject(body) && isObject(body.metadata) ? body.metadata.name : undefined;
  return typeof name === "string" ? name : undefined;
}

/** Reads of all that the steps may have changed. */
export function finalReads(steps: readonly Step[]): Step[] {
  const { collections, objects } = touchedBy(steps);
  return [...collections, ...objects].map((path) => ({ method: "GET", path }));
}
