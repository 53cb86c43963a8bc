/**
 * Finds the resource for a name as kubectl accepts it: `po`, `pod`, `pods`, `Deployment`,
 * `deployments.apps`, `roles.rbac`.
 */
import { ask, type Json, RequestRejected, type Sender } from "../client/ask.ts";

export interface FoundResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** Whether the server has it; otherwise the name is used as written. */
  readonly exists: boolean;
}

interface Served {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly namespaced: boolean;
  /** In lower case. */
  readonly names: readonly string[];
}

/** @throws RequestRejected when the server does not serve discovery to this user */
export async function findResource(server: Sender, word: string): Promise<FoundResource> {
  const [name = "", ...rest] = word.toLowerCase().split(".");
  const qualifier = rest.join(".");
  const found = (await servedResources(server)).find(
    (served) => served.names.includes(name) && matchesQualifier(served, qualifier),
  );
  if (found === undefined)
    return { group: qualifier, version: "", resource: word.split(".")[0] ?? "", namespaced: true, exists: false };
  const { group, version, resource, namespaced } = found;
  return { group, version, resource, namespaced, exists: true };
}

/** `apps`, `v1.apps`, or the beginning of a group up to a dot. */
function matchesQualifier({ group, version }: Served, qualifier: string): boolean {
  return (
    qualifier === "" || qualifier === group || qualifier === `${version}.${group}` || group.startsWith(`${qualifier}.`)
  );
}

/** In the server's order: the core group first, each group's preferred version first. */
async function servedResources(server: Sender): Promise<Served[]> {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const lists = await Promise.all(["/api", "/apis"].map((path) => ask(server, "GET", path, { accept })));
  if (lists.some(({ kind }) => kind !== "APIGroupDiscoveryList"))
    throw new RequestRejected(200, "the server has no aggregated discovery");
  return lists.flatMap(({ items = [] }) => items.flatMap(resourcesOf));
}

function resourcesOf({ metadata = {}, versions = [] }: Json): Served[] {
  const group: string = metadata.name ?? "";
  return versions.flatMap(({ version, resources = [] }: Json) =>
    resources.map(({ resource = "", scope, responseKind = {}, singularResource = "", shortNames = [] }: Json) => {
      const names = [resource, singularResource, responseKind.kind ?? "", ...shortNames].map((name: string) =>
        name.toLowerCase(),
      );
      return { group, version, resource, namespaced: scope === "Namespaced", names };
    }),
  );
}
