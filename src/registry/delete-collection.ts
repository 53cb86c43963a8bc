/** Deletes what a list selects, each object like any other deletion. Source: resource-api §4.2; apiserver's generic store. */
import { ApiError } from "../apimachinery/errors.ts";
import type { ResourceDefinition } from "../catalog/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { RegistryContext } from "./contract.ts";
import { type DeleteRequest, deleteOne, warnOfOrphans } from "./delete.ts";
import { type ListResult, listEntries } from "./list.ts";
import { checkWatchOptions, type ListOptions, withWatchDefaults } from "./list-options.ts";
import { checkSelectable, parseSelectors } from "./selection.ts";

/** Deletions under way at once; they share commits. */
const deletionsAtOnce = 32;

export interface DeleteCollectionRequest extends DeleteRequest {
  readonly list: ListOptions;
}

/**
 * Everything about the list that can be wrong in itself. Upstream looks at it before it reads how to delete, and at `watch`, which asks for nothing here.
 * @param allowed `initialEvents`: the gate WatchList
 * @throws ApiError 400
 */
export function checkCollection(
  definition: ResourceDefinition,
  list: ListOptions,
  allowed: { readonly initialEvents: boolean },
): void {
  const { fields } = parseSelectors(list);
  checkWatchOptions(withWatchDefaults(list, allowed), allowed);
  for (const { key } of fields.terms) checkSelectable(definition, key);
}

/**
 * @param request its name is not looked at
 * @returns the objects as they were before
 * @throws ApiError of the first object, in their order, that could not be deleted; others may be gone by then
 */
export async function deleteMany(registry: RegistryContext, request: DeleteCollectionRequest): Promise<ListResult> {
  const { target, namespace } = request;
  warnOfOrphans(request);
  const { meta, entries } = await listEntries(target.resource, namespace, exactly(request.list), target.converted);
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

/** Upstream lists in chunks, and so what was there at the version that is named, be it an old one. */
function exactly(list: ListOptions): ListOptions {
  const { resourceVersion, resourceVersionMatch, continueToken } = list;
  const plain = { ...list, watch: false, sendInitialEvents: undefined };
  if (resourceVersion === "" || resourceVersion === "0" || resourceVersionMatch !== "" || continueToken !== "")
    return plain;
  return { ...plain, resourceVersionMatch: "Exact" };
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
