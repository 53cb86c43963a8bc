/** Looks up the owners an object names, as they are at that moment. Source: the garbage collector's classification of references. */
import { type OwnerReference, parseGroupVersion } from "../../apimachinery/object.ts";
import type { ConvertedVersion, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { readMetadata, waitsForDependents } from "./metadata.ts";

export interface Classified {
  /** The owner exists and does not wait for its dependents. */
  readonly solid: OwnerReference[];
  /** The owner does not exist where the reference says. */
  readonly dangling: OwnerReference[];
  /** The owner's deletion waits for its dependents. */
  readonly waiting: OwnerReference[];
}

/** The owner's kind is not served: it may come, or come back. Nothing is decided then. */
export class UnknownOwnerKind extends Error {}

/** An object of the cluster names an owner in a namespace, which cannot be. Nothing is decided then, ever. */
export class NamespacedOwner extends Error {
  readonly reference: OwnerReference;
  constructor(reference: OwnerReference) {
    super("cluster-scoped objects cannot refer to namespaced owners");
    this.reference = reference;
  }
}

/**
 * @param namespace of the object that names them
 * @throws UnknownOwnerKind · NamespacedOwner · whatever reading the owners' kinds throws
 */
export async function classifyOwners(
  registry: RegistryContext,
  namespace: string,
  references: readonly OwnerReference[],
): Promise<Classified> {
  const classified: Classified = { solid: [], dangling: [], waiting: [] };
  for (const reference of references) classified[await classify(registry, namespace, reference)].push(reference);
  return classified;
}

async function classify(
  registry: RegistryContext,
  namespace: string,
  reference: OwnerReference,
): Promise<keyof Classified> {
  const { store, namespaced, converted } = ownerKind(registry, reference);
  if (namespaced && namespace === "") throw new NamespacedOwner(reference);
  const owner = (await store.cache.current()).get(store.keyOf(namespaced ? namespace : "", reference.name));
  // Upstream reads the owner at the version of the reference, which fails where it cannot be converted.
  if (owner !== undefined && converted !== undefined) await converted.showReconverted(owner);
  const meta = owner && readMetadata(owner);
  if (meta?.uid !== reference.uid) return "dangling";
  return waitsForDependents(meta) ? "waiting" : "solid";
}

interface OwnerKind {
  readonly store: ResourceStore;
  readonly namespaced: boolean;
  /** At the version of the reference, where a webhook converts the kind. */
  readonly converted: ConvertedVersion | undefined;
}

/** @throws UnknownOwnerKind */
export function ownerKind({ catalog }: RegistryContext, { apiVersion, kind }: OwnerReference): OwnerKind {
  const groupVersion = parseGroupVersion(apiVersion);
  const found = groupVersion && catalog.findKind(groupVersion.group, groupVersion.version, kind);
  const store = found?.version.served === true ? found.resource.store : undefined;
  if (found === undefined || store === undefined)
    throw new UnknownOwnerKind(`no matches for kind ${kind} in version ${apiVersion}`);
  return { store, namespaced: found.resource.definition.namespaced, converted: found.converted };
}
