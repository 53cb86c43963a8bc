/**
 * Sets, keeps and removes metadata fields of written objects. Source:
 * k8s.io/apiserver@v0.36.0/pkg/registry/rest.
 */
import { formatTime } from "../apimachinery/clock.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../apimachinery/object.ts";
import type { ResourceDefinition } from "../catalog/contract.ts";
import { addIntegers, deepEqual, identical, setMember } from "../lib/json/values.ts";
import { equalValues } from "../lib/schema/equal.ts";
import type { Struct } from "../lib/schema/schema.ts";
import type { RegistryContext } from "./contract.ts";

/** Groups whose kinds accept any qualified finalizer name. */
const lenientGroups: ReadonlySet<string> = new Set([
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "coordination.k8s.io",
  "node.k8s.io",
  "policy",
]);

/**
 * Most built-in kinds accept only standard finalizers and those with a domain; these kinds accept
 * as many as custom resources do.
 */
export function acceptsAnyFinalizer({ custom, group, resource }: ResourceDefinition): boolean {
  return custom || lenientGroups.has(group) || (group === "" && resource === "events");
}

/** Removes the fields of a new object that only the server sets. */
export function wipeSystemFields(meta: ObjectMeta): void {
  if (meta.creationTimestamp !== undefined) delete meta.creationTimestamp;
  if (meta.uid !== undefined) delete meta.uid;
  if (meta.deletionTimestamp !== undefined) delete meta.deletionTimestamp;
  if (meta.deletionGracePeriodSeconds !== undefined) delete meta.deletionGracePeriodSeconds;
  if (meta.selfLink !== undefined) delete meta.selfLink;
}

/** Sets creationTimestamp and uid, and the name if it is generated. */
export function fillSystemFields(meta: ObjectMeta, registry: RegistryContext, now: number): void {
  meta.creationTimestamp = formatTime(now);
  meta.uid = randomUid(registry);
  if (needsName(meta)) meta.name = generateName(registry, meta.generateName as string);
}

export function needsName(meta: ObjectMeta): boolean {
  return (meta.generateName ?? "") !== "" && (meta.name ?? "") === "";
}

/** Without vowels and similar characters, so that names contain no words. */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const generatedNameBase = 63 - suffixLength;

/** The base, cut so that the name has at most 63 characters, and five random characters. */
export function generateName(registry: RegistryContext, base: string): string {
  const random = registry.random(suffixLength * 4);
  let name = base.slice(0, generatedNameBase);
  for (let at = 0; at < random.length; at += 4) name += suffixAlphabet[random.readUInt32LE(at) % suffixAlphabet.length];
  return name;
}

/** A version 4 UUID. */
function randomUid(registry: RegistryContext): string {
  const bytes = registry.random(16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/**
 * Restores fields that an update must not change, and fills in those that it omits. Validation
 * rejects other changes.
 */
export function keepSystemFields(next: ObjectMeta, old: ObjectMeta): void {
  keep(next, old, "creationTimestamp");
  keep(next, old, "generation");
  if ((next.uid ?? "") === "") keep(next, old, "uid");
  if (old.deletionTimestamp !== undefined) next.deletionTimestamp = old.deletionTimestamp;
  if (next.deletionGracePeriodSeconds === undefined) keep(next, old, "deletionGracePeriodSeconds");
}

function keep<K extends keyof ObjectMeta>(next: ObjectMeta, old: ObjectMeta, field: K): void {
  if (old[field] === undefined) delete next[field];
  else next[field] = old[field];
}

/** Increments `metadata.generation`. */
export function raiseGeneration(meta: ObjectMeta): void {
  meta.generation = addIntegers(meta.generation ?? 0, 1);
}

/** Fields of every kind, which are not part of its content. */
const sharedFields: ReadonlySet<string> = new Set(["kind", "apiVersion", "metadata"]);

/** Whether anything except the metadata and the named field differs. */
export function contentDiffers(next: KubeObject, old: KubeObject, schema: Struct, except: string): boolean {
  const isContent = (field: string): boolean => !sharedFields.has(field) && field !== except;
  if (schema.custom !== undefined) {
    return [...Object.keys(next), ...Object.keys(old)].some(
      (field) => isContent(field) && !identical(own(next, field), own(old, field)),
    );
  }
  if (schema.fields.some(({ name, type }) => isContent(name) && !equalValues(own(next, name), own(old, name), type)))
    return true;
  if (!schema.preserveUnknown) return false;
  const isUnknown = (field: string): boolean => isContent(field) && !schema.byName.has(field);
  return [...Object.keys(next), ...Object.keys(old)].some(
    (field) => isUnknown(field) && !identical(own(next, field), own(old, field)),
  );
}

/**
 * Restores everything except the metadata and one field; the two objects share the restored parts.
 */
export function keepAllExcept(next: KubeObject, old: KubeObject, field: string): void {
  for (const name of Object.keys(next))
    if (!sharedFields.has(name) && name !== field && !Object.hasOwn(old, name)) delete next[name];
  for (const name of Object.keys(old)) if (!sharedFields.has(name) && name !== field) setMember(next, name, old[name]);
}

/** Restores one field. */
export function keepField(next: KubeObject, old: KubeObject, field: string): void {
  if (old[field] === undefined) delete next[field];
  else next[field] = old[field];
}

const own = (object: KubeObject, field: string): unknown => (Object.hasOwn(object, field) ? object[field] : undefined);

const duplicateOwners = {
  sent: ".metadata.ownerReferences contains duplicate entries",
  admitted: ".metadata.ownerReferences contains duplicate entries after mutating admission happens",
};
const duplicateOwnersAdvice =
  "API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed:";

/**
 * Removes repeated owner references, with a warning.
 * @param when as the client sent them, or after admission
 */
export function dedupOwnerReferences(meta: ObjectMeta, warnings: string[], when: keyof typeof duplicateOwners): void {
  const references = meta.ownerReferences;
  if (references === undefined || references.length < 2) return;
  const kept = new Map<string, OwnerReference[]>();
  const repeated: string[] = [];
  meta.ownerReferences = references.filter((reference) => {
    const others = kept.get(reference.uid) ?? [];
    if (others.some((one) => deepEqual(one, reference))) {
      repeated.push(reference.uid);
      return false;
    }
    kept.set(reference.uid, [...others, reference]);
    return true;
  });
  if (repeated.length > 0) warnings.push(`${duplicateOwners[when]}; ${duplicateOwnersAdvice} ${repeated.join(", ")}`);
}
