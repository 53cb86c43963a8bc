/** Which resource a word means: `po`, `pod`, `pods`, `Deployment`, `deployments.apps`, `roles.rbac`. Source: what kubectl takes. */
import { ask, RefusedRequest, type Sender } from "./server.ts";

export interface FoundResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** Whether the server has it; otherwise it is taken as it was written. */
  readonly known: boolean;
}

interface Served {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** In lower case. */
  readonly names: readonly string[];
}

/** @throws RefusedRequest when the server does not tell what it has */
export async function findResource(server: Sender, word: string): Promise<FoundResource> {
  const [name = "", ...rest] = word.toLowerCase().split(".");
  const place = rest.join(".");
  const found = (await servedResources(server)).find((served) => served.names.includes(name) && isAt(served, place));
  if (found === undefined)
    return { group: place, version: "", resource: word.split(".")[0] ?? "", namespaced: true, known: false };
  const { group, version, resource, namespaced } = found;
  return { group, version, resource, namespaced, known: true };
}

/** `apps`, `v1.apps`, or the beginning of a group up to a dot. */
function isAt({ group, version }: Served, place: string): boolean {
  return place === "" || place === group || place === `${version}.${group}` || group.startsWith(`${place}.`);
}

/** In the server's order: the core group first, each group's preferred version first. */
async function servedResources(server: Sender): Promise<Served[]> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const lists = await Promise.all(["/api", "/apis"].map((path) => ask(server, "GET", path, { accept })));
  if (lists.some(({ kind }) => kind !== "APIGroupDiscoveryList"))
    throw new RefusedRequest(200, "the server has no aggregated discovery");
  return lists.flatMap(({ items = [] }) => items.flatMap(resourcesOf));
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read member by member.
function resourcesOf({ metadata = {}, versions = [] }: Record<string, any>): Served[] {
  const group: string = metadata.name ?? "";
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  return versions.flatMap(({ version, resources = [] }: Record<string, any>) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above.
    resources.map(
      ({ resource = "", scope, responseKind = {}, singularResource = "", shortNames = [] }: Record<string, any>) => {
        const names = [resource, singularResource, responseKind.kind ?? "", ...shortNames].map((name: string) =>
          name.toLowerCase(),
        );
        return { group, version, resource, namespaced: scope === "Namespaced", names };
      },
    ),
  );
}
