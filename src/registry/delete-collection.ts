/** Deletes what a list selects, each object like any other deletion. Source: resource-api §4.2; apiserver's generic store. */
import { ApiError } from "../api/errors.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { RegistryContext } from "./contract.ts";
import { type DeleteRequest, deleteOne } from "./delete.ts";
import { type ListResult, listEntries } from "./list.ts";
import type { ListOptions } from "./list-options.ts";

/** Deletions under way at once; they share commits. */
const deletionsAtOnce = 32;

export interface DeleteCollectionRequest extends DeleteRequest {
  readonly list: ListOptions;
}

/**
 * @param request its name is not looked at
 * @returns the objects as they were before
 * @throws ApiError of the first object, in their order, that could not be deleted; others may be gone by then
 */
export async function deleteMany(registry: RegistryContext, request: DeleteCollectionRequest): Promise<ListResult> {
  const { meta, entries } = await listEntries(request.target.resource, request.namespace, request.list, request.target.converted);
  const found = [...entries];
  const errors = new Map<number, unknown>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < found.length && errors.size === 0; at = next++) {
      const error = await tryDelete(registry, request, found[at] as Entry);
      if (error !== undefined) errors.set(at, error);
    }
  };
  await Promise.all(Array.from({ length: deletionsAtOnce }, work));
  if (errors.size > 0) throw errors.get(Math.min(...errors.keys()));
  return { meta, entries: found };
}

/** @returns what went wrong; being gone already is what was wanted */
async function tryDelete(registry: RegistryContext, request: DeleteRequest, { index }: Entry): Promise<unknown> {
  try {
    await deleteOne(registry, { ...request, namespace: index.namespace, name: index.name });
    return undefined;
  } catch (error) {
    return error instanceof ApiError && error.status.reason === "NotFound" ? undefined : error;
  }
}
