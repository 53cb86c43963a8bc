/** Finds the paths of objects, by the discovery of a server. */
import type { TestClients } from "../contract.ts";
import { groupOf } from "./install-order.ts";
import type { ManifestObject } from "./manifest.ts";

/** A resource, as its discovery document describes it. */
interface ApiResource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Where the objects of a kind are. */
export interface KindPaths {
  readonly namespaced: boolean;
  /** @param namespace is ignored for kinds without */
  collection(namespace: string): string;
}

/** Finds paths. */
export interface ResourcePaths {
  /** @throws Error when the server has no such kind */
  of(object: Pick<ManifestObject, "apiVersion" | "kind" | "place">): Promise<KindPaths>;
  /** Must be called when kinds were added. */
  forget(): void;
}

/** Creates a finder, which reads each document once. */
export function resourcePaths({ fetch }: Pick<TestClients, "fetch">): ResourcePaths {
  const known = new Map<string, Promise<readonly ApiResource[]>>();
  const read = async (apiVersion: string): Promise<readonly ApiResource[]> => {
    const response = await fetch(rootOf(apiVersion));
    return response.ok ? (await response.json()).resources : [];
  };
  return {
    async of({ apiVersion, kind, place }) {
      const resources = known.get(apiVersion) ?? read(apiVersion);
      known.set(apiVersion, resources);
      const found = (await resources).find((resource) => resource.kind === kind && !resource.name.includes("/"));
      if (found === undefined)
        throw new Error(`${place}: the server has no kind ${kind} of ${apiVersion}: is its definition missing?`);
      const { name, namespaced } = found;
      const root = rootOf(apiVersion);
      return {
        namespaced,
        collection: (namespace) => (namespaced ? `${root}/namespaces/${namespace}/${name}` : `${root}/${name}`),
      };
    },
    forget: () => known.clear(),
  };
}

function rootOf(apiVersion: string): string {
  const segments = apiVersion.split("/").map(encodeURIComponent).join("/");
  return groupOf(apiVersion) === "" ? `/api/${segments}` : `/apis/${segments}`;
}
