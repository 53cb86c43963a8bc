/** What strategies may ask of the world, made for one write. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { StrategyContext } from "../catalog/contract.ts";
import type { RegistryContext, WriteRequest } from "./contract.ts";

type Request = Pick<WriteRequest, "user" | "warnings"> & { readonly isPatch?: boolean };

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

async function findObject({ catalog }: RegistryContext, wanted: ObjectName): Promise<KubeObject | undefined> {
  const store = catalog.findResource(wanted.group, wanted.resource)?.store;
  if (store === undefined) return undefined;
  await store.cache.ready();
  const entry = store.cache.latest().get(store.keyOf(wanted.namespace, wanted.name));
  return entry && store.decode(entry);
}
