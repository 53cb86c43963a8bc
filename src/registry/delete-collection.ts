/** Deletes the objects that a list selects, each like any other deletion. */
import { ApiError } from "../apimachinery/errors.ts";
import type { ResourceDefinition } from "../catalog/contract.ts";
import type { ListOptions } from "../request/list-options.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { RegistryContext } from "./contract.ts";
import { type DeleteRequest, deleteOne, warnOfOrphans } from "./delete.ts";
import { type ListResult, listEntries } from "./list.ts";
import { checkWatchOptions, withWatchDefaults } from "./list-options.ts";
import { type RunInTurn, startInTurn } from "./scan.ts";
import { checkSelectable, parseSelectors } from "./selection.ts";

/** Concurrent deletions; they share commits. */
const deletionsAtOnce = 32;

interface DeleteCollectionRequest extends DeleteRequest {
  readonly list: ListOptions;
  /** Runs the steps of the scan, and the start of each deletion. */
  readonly inTurn?: RunInTurn;
}

/**
 * Validates the list options on their own. Upstream does so before it reads the delete options, and
 * includes `watch`, which has no other effect here.
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
 * @param request its name is ignored
 * @returns the objects as they were before
 * @throws ApiError of the first object, in key order, that could not be deleted; others may be
 *   deleted already
 */
export async function deleteMany(registry: RegistryContext, request: DeleteCollectionRequest): Promise<ListResult> {
  const { target, namespace, inTurn } = request;
  warnOfOrphans(request);
  const options = exactly(request.list);
  const { meta, entries } = await listEntries(target.resource, namespace, options, target.converted, inTurn);
  const found = [...entries];
  const errors = new Map<number, unknown>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < found.length && errors.size === 0; at = next++) {
      const error = await startInTurn(() => tryDelete(registry, request, found[at] as Entry), inTurn);
      if (error !== undefined) errors.set(at, error);
    }
  };
  await Promise.all(Array.from({ length: deletionsAtOnce }, work));
  if (errors.size > 0) throw errors.get(Math.min(...errors.keys()));
  return { meta, entries: found };
}

/** Upstream lists in chunks, which reads the exact resourceVersion, also an old one. */
function exactly(list: ListOptions): ListOptions {
  const { resourceVersion, resourceVersionMatch, continueToken } = list;
  const plain = { ...list, watch: false, sendInitialEvents: undefined };
  if (resourceVersion === "" || resourceVersion === "0" || resourceVersionMatch !== "" || continueToken !== "")
    return plain;
  return { ...plain, resourceVersionMatch: "Exact" };
}

/** @returns the error; an object that does not exist any more is none */
async function tryDelete(registry: RegistryContext, request: DeleteRequest, { index }: Entry): Promise<unknown> {
  try {
    const { namespace, name } = index;
    await deleteOne(registry, { ...request, namespace, name, isOfCollection: true });
    return undefined;
  } catch (error) {
    return error instanceof ApiError && error.status.reason === "NotFound" ? undefined : error;
  }
}
