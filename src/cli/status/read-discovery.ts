/** Reads the group versions and resources that a server serves. Source: KEP-3352 */
import { ask, type Json, type Sender } from "../client/ask.ts";

/** A resource that can be listed, at the preferred version of its group. */
export interface ListedResource {
  /** `deployments.apps` */
  readonly name: string;
  /** `/apis/apps/v1/deployments` */
  readonly path: string;
}

const accept = ["application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList", "application/json"].join(",");

/** Its objects are also those of `events`. */
const repeatedGroup = "events.k8s.io";

/** @throws RequestRejected; Error for servers without aggregated discovery */
export async function readDiscovery(
  sender: Sender,
): Promise<{ groupVersions: readonly string[]; resources: readonly ListedResource[] }> {
  const lists = [await ask(sender, "GET", "/api", { accept }), await ask(sender, "GET", "/apis", { accept })];
  if (lists.some(({ kind }) => kind !== "APIGroupDiscoveryList"))
    throw new Error("the server has no aggregated discovery, which Kubernetes has since 1.30");
  const groups = lists.flatMap(({ items }) => (items ?? []) as Json[]);
  return {
    groupVersions: groups.flatMap(({ metadata = {}, versions = [] }) =>
      (versions as Json[]).map(({ version }) => groupVersion(metadata.name, version)),
    ),
    resources: groups.filter(({ metadata }) => metadata?.name !== repeatedGroup).flatMap(resourcesOf),
  };
}

const groupVersion = (group: string | undefined, version: string): string => (group ? `${group}/${version}` : version);

/** Each resource of a group once, at the first version that has it: versions are listed by preference. */
function resourcesOf({ metadata = {}, versions = [] }: Json): ListedResource[] {
  const found = new Map<string, ListedResource>();
  const group: string = metadata.name ?? "";
  for (const { version, resources = [] } of versions as Json[]) {
    for (const { resource, verbs = [] } of resources as Json[]) {
      if (!verbs.includes("list") || found.has(resource)) continue;
      const root = group === "" ? "/api" : "/apis";
      const name = group === "" ? resource : `${resource}.${group}`;
      found.set(resource, { name, path: `${root}/${groupVersion(group, version)}/${resource}` });
    }
  }
  return [...found.values()];
}
