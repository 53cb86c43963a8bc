/**
 * Reads the current owners of an object. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/garbagecollector/garbagecollector.go`,
 * classifyReferences.
 */
import { type OwnerReference, parseGroupVersion } from "../../apimachinery/object.ts";
import type { ConvertedVersion, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { readMetadata, waitsForDependents } from "./metadata.ts";

export interface Classified {
  /** The owner exists and does not wait for its dependents. */
  readonly solid: OwnerReference[];
  /** The owner does not exist in the namespace of the object. */
  readonly dangling: OwnerReference[];
  /** The owner's deletion waits for its dependents. */
  readonly waiting: OwnerReference[];
}

/** The owner's kind is not served. It may be added later, so the object is kept. */
export class UnknownOwnerKind extends Error {}

/** A cluster-scoped object has a namespaced owner, which is invalid. The object is kept. */
export class NamespacedOwner extends Error {
  readonly reference: OwnerReference;
  constructor(reference: OwnerReference) {
    super("cluster-scoped objects cannot refer to namespaced owners");
    this.reference = reference;
  }
}

/**
 * Classifies owner references by the current state of the owners.
 * @param namespace of the object that has the references
 * @throws UnknownOwnerKind
 * @throws NamespacedOwner
 * @throws ApiError when objects of an owner's kind cannot be read
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
  const owner = await currentEntry(store, store.keyOf(namespaced ? namespace : "", reference.name));
  // Upstream reads the owner at the version of the reference, which fails if the conversion fails.
  if (owner !== undefined && converted !== undefined) await converted.showReconverted(owner);
  const meta = owner && readMetadata(owner);
  if (meta?.uid !== reference.uid) return "dangling";
  return waitsForDependents(meta) ? "waiting" : "solid";
}

interface OwnerKind {
  readonly store: ResourceStore;
  readonly namespaced: boolean;
  /** The version of the reference, when a webhook converts the kind. */
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
