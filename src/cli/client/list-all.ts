import type { KubeObject } from "../../apimachinery/object.ts";
import { ask, type Sender } from "./ask.ts";

const objectsPerPage = 500;

/**
 * Lists all objects of a collection, in pages.
 *
 * @param path without a query
 * @throws RequestRejected with the server's message
 */
export async function listAll(server: Sender, path: string): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  let next = "";
  do {
    const query = new URLSearchParams({ limit: String(objectsPerPage), ...(next !== "" && { continue: next }) });
    const { items = [], metadata = {} } = await ask(server, "GET", `${path}?${query}`);
    objects.push(...items);
    next = metadata.continue ?? "";
  } while (next !== "");
  return objects;
}
