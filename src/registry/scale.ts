/**
 * Writes of the `scale` subresource: updates of the object that change only its replicas. Source:
 * ScaleREST of the workloads upstream.
 */
import { badRequest, conflict, internalError, invalid, methodNotAllowed } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import {
  formatGroupVersion,
  type KubeObject,
  type ManagedFieldsEntry,
  parseGroupVersion,
} from "../apimachinery/object.ts";
import { validateObjectMeta } from "../apimachinery/validation/metadata.ts";
import { storeOf } from "../catalog/catalog.ts";
import type { Resolved, Resource } from "../catalog/contract.ts";
import type { ScaleMapping } from "../catalog/strategy-contract.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { setEntries } from "../lib/managed-fields/entries.ts";
import { dnsSubdomainProblems } from "../lib/names/names.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { RegistryContext, WriteRequest } from "./contract.ts";
import { validateDeclared } from "./declarative-validation.ts";
import { trackScale } from "./managed-fields/general-update.ts";
import { scaleContext } from "./managed-fields/merge-context.ts";
import { parentEntries, type ReplicasPaths, scaleEntries, scaleVersion } from "./managed-fields/scale.ts";
import { requestVersion, writerOf } from "./managed-fields/track.ts";
import { admissionAttributes, checkNames, dedupOwnerReferences } from "./prepare.ts";
import { storedResource } from "./resource-names.ts";
import { update } from "./update.ts";

/** A write of the `scale` subresource. */
interface ScaleRequest extends WriteRequest {
  /** The uid of a sent Scale; empty when it has none, and for patches. */
  readonly uid?: string;
  readonly ifMatch?: string | undefined;
  /**
   * Unless false, replicas that `next` changes are managed by the request's manager. False if
   * `next` sets `metadata.managedFields`.
   */
  readonly tracksManagers?: boolean;
  /** The owner references of a patched Scale are checked only after admission. */
  readonly isPatch?: boolean;
  /**
   * Returns the new Scale.
   * @param current returns a new copy of the current Scale, at each call
   * @throws ApiError to end the write
   */
  next(current: () => KubeObject): Promise<KubeObject>;
}

/**
 * @returns the updated Scale
 * @throws ApiError 400, 403 (admission), 404, 405, 409, 422
 */
export async function updateScale(registry: RegistryContext, request: ScaleRequest): Promise<KubeObject> {
  const { resource } = request.target;
  const mapping = scaleMapping(request.target);
  const paths = replicasPaths(resource);
  const context = scaleContext();
  const written = await update(registry, {
    ...request,
    tracksManagers: false,
    admittedAs: (object) => mapping.toScale(object),
    async next(current) {
      const object = (current as NonNullable<typeof current>)(); // No kind with a scale is created by an update.
      const { managedFields } = object.metadata;
      const live = (): KubeObject => withEntries(currentScale(mapping, object), scaleEntries(managedFields, paths));
      const scale = await request.next(live);
      dedupOwnerReferences(scale.metadata, request.warnings, request.isPatch === true ? "admitted" : "sent");
      if (request.tracksManagers !== false)
        trackScale(registry, writerOf(request, scaleVersion), scale, live(), context);
      checkNames(scale, request);
      const admitted = admissionAttributes(request, { operation: "UPDATE", object: scale, oldObject: live() });
      await registry.admission.mutate(admitted);
      checkScale(registry, request, { object, scale, old: mapping.toScale(object) });
      if (scale.spec?.replicas === noReplicas)
        throw badRequest(`the spec replicas field ${replicasField(mapping)} cannot be empty`);
      mapping.applyScale(object, Number(scale.spec?.replicas ?? 0));
      setEntries(
        object,
        parentEntries(managedFields, scale.metadata.managedFields, requestVersion(request.target), paths),
      );
      // Without a resourceVersion, a custom resource is updated at its current one, though an
      // update requires one otherwise.
      const { resourceVersion: sent = "" } = scale.metadata;
      if (sent !== "") object.metadata.resourceVersion = sent;
      else if (!resource.definition.custom) delete object.metadata.resourceVersion;
      return object;
    },
  });
  return mapping.toScale("entry" in written ? await scaledObject(request.target, written.entry) : written.object);
}

/** Placeholder for absent replicas, which shows whether a patch sets them. */
const noReplicas = -(2 ** 31);

function currentScale(mapping: ScaleMapping, object: KubeObject): KubeObject {
  const scale = mapping.toScale(object);
  if (!hasReplicas(mapping, object)) scale.spec = { replicas: noReplicas };
  return scale;
}

function hasReplicas({ replicasPath }: ScaleMapping, object: KubeObject): boolean {
  if (replicasPath === undefined) return true;
  let value: unknown = object;
  for (const step of replicasPath)
    value =
      typeof value === "object" && value !== null && Object.hasOwn(value, step) ? Reflect.get(value, step) : undefined;
  return value !== undefined && value !== null;
}

const replicasField = ({ replicasPath = [] }: ScaleMapping): string => quoteGo(`.${replicasPath.join(".")}`);

/**
 * @returns the Scale of an object
 * @throws ApiError 500 when the object has no replicas, as upstream
 */
export function readScale(mapping: ScaleMapping, object: KubeObject): KubeObject {
  const scale = mapping.toScale(object);
  if (!hasReplicas(mapping, object))
    throw internalError(`the spec replicas field ${replicasField(mapping)} does not exist`);
  return scale;
}

/**
 * The object at the version whose scale is requested.
 * @param options `cached`: whether a cached conversion may be used
 */
export async function scaledObject(
  { resource, converted }: Resolved,
  entry: Entry,
  { cached = false } = {},
): Promise<KubeObject> {
  if (converted === undefined) return storeOf(resource).decode(entry);
  const shown = cached ? ((await converted.show([entry]))[0] as Entry) : await converted.showReconverted(entry);
  return storeOf(converted.shown.resource).decode(shown);
}

function withEntries(scale: KubeObject, entries: ManagedFieldsEntry[] | undefined): KubeObject {
  setEntries(scale, entries);
  return scale;
}

/** @throws ApiError 405 when the version has no such subresource */
export function scaleMapping({ resource, version }: Resolved): ScaleMapping {
  const { scale } = version.strategy ?? resource.definition.strategy;
  if (scale === undefined) throw methodNotAllowed();
  return scale;
}

const builtinReplicas: readonly string[] = ["spec", "replicas"];

function replicasPaths({ definition }: Resource): ReplicasPaths {
  if (!definition.custom)
    return (apiVersion) => (parseGroupVersion(apiVersion)?.group === definition.group ? builtinReplicas : undefined);
  const paths = definition.versions.map(
    ({ version, strategy }) =>
      [formatGroupVersion(definition.group, version), strategy?.scale?.replicasPath ?? null] as const,
  );
  const byVersion = new Map(paths);
  return (apiVersion) => byVersion.get(apiVersion);
}

interface ScaleChange {
  readonly object: KubeObject;
  readonly scale: KubeObject;
  readonly old: KubeObject;
}

function checkScale(registry: RegistryContext, request: ScaleRequest, { object, scale, old }: ScaleChange): void {
  const { resource, version } = request.target;
  // A custom one is validated with its object, whose errors name the path of its replicas.
  if (resource.definition.custom) return;
  const { name = "", uid = "" } = object.metadata;
  const errors = new FieldErrors();
  validateObjectMeta(scale.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
  const replicas = Number(scale.spec?.replicas ?? 0);
  if (replicas < 0) errors.covered("minimum").invalid("spec.replicas", replicas, "must be greater than or equal to 0");
  const { declarative } = resource.definition.strategy;
  const schema = version.subresources.find((one) => one.name === "scale")?.schema;
  if (declarative !== undefined && schema !== undefined)
    validateDeclared(registry, request, declarative, { object: scale, old, errors, schema });
  if (!errors.empty) throw invalid("autoscaling", "Scale", name, errors.causes);
  const sentUid = scale.metadata.uid ?? "";
  if (sentUid === "" || sentUid === uid) return;
  const { group, resource: plural } = storedResource(resource);
  const why = `Precondition failed: UID in precondition: ${sentUid}, UID in object meta: ${uid}`;
  throw conflict({ group, resource: `${plural}/scale` }, name, why);
}
