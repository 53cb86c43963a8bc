/** The context that strategies receive, created for one write. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { StrategyContext } from "../catalog/contract.ts";
import type { RegistryContext, WriteRequest } from "./contract.ts";

type Request = Pick<WriteRequest, "user" | "warnings"> & { readonly isPatch?: boolean };

/** The context of one write. */
export function strategyContext(
  registry: RegistryContext,
  { user, warnings, isPatch = false }: Request,
): StrategyContext {
  return {
    user,
    isPatch,
    gates: registry.gates,
    now: registry.clock.now(),
    warn: (text) => warnings.push(text),
    findDenial: registry.findDenial,
    find: (group, resource, namespace, name) => findObject(registry, { group, resource, namespace, name }),
  };
}

interface ObjectName {
  readonly group: string;
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}

async function findObject({ catalog }: RegistryContext, object: ObjectName): Promise<KubeObject | undefined> {
  const store = catalog.findResource(object.group, object.resource)?.store;
  if (store === undefined) return undefined;
  await store.cache.ready();
  const entry = store.cache.latest().get(store.keyOf(object.namespace, object.name));
  return entry && store.decode(entry);
}
