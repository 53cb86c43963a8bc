/** Counts the objects of resources. */
import { ask, RequestRejected, type Sender } from "../client/ask.ts";
import type { ListedResource } from "./read-discovery.ts";

/** The number of objects of a resource. */
export interface Counted {
  readonly resource: string;
  readonly count: number;
}

const accept = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
/** Requests at a time. */
const requestsMax = 8;

/**
 * Counts with lists of one object, whose answers have the number of the others.
 *
 * @returns the numbers, and the names of the resources that the user may not list; resources that
 *   are not available are in neither
 */
export async function countObjects(
  sender: Sender,
  resources: readonly ListedResource[],
): Promise<{ objects: readonly Counted[]; forbidden: readonly string[] }> {
  const objects: Counted[] = [];
  const forbidden: string[] = [];
  for (let at = 0; at < resources.length; at += requestsMax) {
    const some = resources.slice(at, at + requestsMax);
    const counts = await Promise.all(some.map((one) => countOf(sender, one)));
    for (const [index, count] of counts.entries()) {
      const { name } = some[index] as ListedResource;
      if (count === "forbidden") forbidden.push(name);
      else if (count !== "unavailable") objects.push({ resource: name, count });
    }
  }
  return { objects, forbidden };
}

/** Resources of other servers can be unavailable, and those of removed definitions are not found. */
const unavailableCodes: ReadonlySet<number> = new Set([404, 405, 503]);

async function countOf(sender: Sender, { path }: ListedResource): Promise<number | "forbidden" | "unavailable"> {
  try {
    const { items, metadata } = await ask(sender, "GET", `${path}?limit=1`, { accept });
    return (items?.length ?? 0) + (metadata?.remainingItemCount ?? 0); // An empty list can have null.
  } catch (error) {
    if (!(error instanceof RequestRejected)) throw error;
    if (error.status === 401 || error.status === 403) return "forbidden";
    if (unavailableCodes.has(error.status)) return "unavailable";
    throw error;
  }
}
