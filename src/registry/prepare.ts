/**
 * Prepares written objects: the context of their strategy, their namespace and name, and the metadata that
 * the server sets. Source: k8s.io/apiserver@v0.36.0/pkg/registry/rest.
 */

import { formatTime } from "../apimachinery/clock.ts";
import { badRequest } from "../apimachinery/errors.ts";
import type { KubeObject, ObjectMeta, OwnerReference } from "../apimachinery/object.ts";
import { randomUuid } from "../apimachinery/random.ts";
import type { ResourceDefinition } from "../catalog/contract.ts";
import type { StrategyContext } from "../catalog/strategy-contract.ts";
import type { AdmissionAttributes, AdmissionOperation } from "./admission-attributes.ts";
import type { RegistryContext, WriteRequest } from "./contract.ts";

type ContextRequest = Pick<WriteRequest, "user" | "warnings"> & { readonly isPatch?: boolean };

/** The context of one write. */
export function strategyContext(registry: RegistryContext, request: ContextRequest): StrategyContext {
  return {
    user: request.user,
    isPatch: request.isPatch ?? false,
    gates: registry.gates,
    forbidsPrivileged: registry.forbidsPrivileged,
    now: registry.clock.now(),
    warn: (text) => request.warnings.push(text),
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
  meta.uid = randomUuid(registry.random);
  if (needsName(meta)) meta.name = generateName(registry, meta.generateName as string);
}

/**
 * Sets the namespace of an object without one to the request's.
 * @param namespace the request's, empty for cluster-scoped resources
 * @throws ApiError 400 when the object has another one
 */
export function checkNamespace(object: KubeObject, namespace: string): void {
  const { metadata } = object;
  const own = metadata.namespace ?? "";
  if (own === namespace) return;
  if (namespace === "") {
    delete metadata.namespace;
    return;
  }
  if (own !== "")
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  metadata.namespace = namespace;
}

/** @throws ApiError 400 when name or namespace of the object differ from the path */
export function checkNames(object: KubeObject, { namespace, name }: Pick<WriteRequest, "namespace" | "name">): void {
  checkNamespace(object, namespace);
  const own = object.metadata.name ?? "";
  if (own === "")
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  if (own !== name) throw badRequest(`the name of the object (${own}) does not match the name on the URL (${name})`);
}

export function needsName(meta: ObjectMeta): boolean {
  return (meta.generateName ?? "") !== "" && (meta.name ?? "") === "";
}

/** Without vowels and similar characters, so that names contain no words. */
const suffixAlphabet = "bcdfghjklmnpqrstvwxz2456789";
const suffixLength = 5;
const generatedNameBase = 63 - suffixLength;

/** The base, cut so that the name has at most 63 bytes, and five random characters. */
export function generateName({ random: randomBytes }: Pick<RegistryContext, "random">, base: string): string {
  const random = randomBytes(suffixLength * 4);
  let name =
    Buffer.byteLength(base) <= generatedNameBase ? base : Buffer.from(base).toString("utf8", 0, generatedNameBase);
  for (let at = 0; at < random.length; at += 4) name += suffixAlphabet[random.readUInt32LE(at) % suffixAlphabet.length];
  return name;
}

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
  const kept = new Set<string>();
  const repeated: string[] = [];
  meta.ownerReferences = references.filter((reference) => {
    const text = textOf(reference);
    const isRepeated = kept.has(text);
    if (isRepeated) repeated.push(reference.uid);
    else kept.add(text);
    return !isRepeated;
  });
  if (repeated.length > 0) warnings.push(`${duplicateOwners[when]}; ${duplicateOwnersAdvice} ${repeated.join(", ")}`);
}

/** Equal for equal references. An absent member equals null. */
function textOf({ apiVersion, kind, name, uid, controller, blockOwnerDeletion }: OwnerReference): string {
  return JSON.stringify([apiVersion, kind, name, uid, controller, blockOwnerDeletion]);
}

/** What a write does to an object. */
interface Change {
  readonly operation: AdmissionOperation;
  /** Undefined for a deletion. */
  readonly object?: KubeObject;
  readonly oldObject?: KubeObject | undefined;
  readonly undo?: AdmissionAttributes["undo"];
  readonly done?: AdmissionAttributes["done"];
  readonly joint?: AdmissionAttributes["joint"];
}

/** The attributes by which admission plugins see a write. A namespace belongs to itself. */
export function admissionAttributes(
  request: WriteRequest,
  { operation, object, oldObject, undo = [], done = [], joint = [] }: Change,
): AdmissionAttributes {
  const { target, subresource, user, dryRun, warnings, audit, lifetime, operationOptions, trace } = request;
  const { group, resource } = target.resource.definition;
  const name = request.name || (object?.metadata.name ?? "");
  return {
    operation,
    target,
    subresource,
    namespace: group === "" && resource === "namespaces" ? name : request.namespace,
    name,
    pathName: request.name,
    object,
    oldObject,
    user,
    dryRun,
    options: () => {
      if (operation === "CONNECT") return null;
      return { kind: optionsKinds[operation], apiVersion: "meta.k8s.io/v1", ...operationOptions?.() };
    },
    warnings,
    audit,
    lifetime,
    undo,
    done,
    joint,
    trace,
  };
}

const optionsKinds = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" };
