/** Lists the objects of a namespace that use a resource, and measures them. */

import { podOfClaim } from "../../admission/quota/claim-pod.ts";
import type { ClaimRelations, Evaluator, ScopeRequirement } from "../../admission/quota/contract.ts";
import { createEvaluators } from "../../admission/quota/evaluators.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import { parseFeatureGates } from "../../apimachinery/feature-gates.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Quantity } from "../../lib/quantity/quantity.ts";
import { ask, RequestRejected, type Sender } from "../client/ask.ts";
import { listAll } from "../client/list-all.ts";

/** An object and what it uses of one resource. */
export interface MeasuredObject {
  /** `pods`, or `deployments.apps`. */
  readonly resource: string;
  readonly name: string;
  readonly amount: Quantity;
}

/** @returns undefined if no kind of the server uses the resource */
export type Measure = (
  name: string,
  scopes: readonly ScopeRequirement[],
) => Promise<readonly MeasuredObject[] | undefined>;

interface CountedKind {
  readonly group: string;
  readonly resource: string;
}

const devices = "resource.k8s.io";
/** Kinds that use more than their own count, or have an older name for it. */
const specialKinds: readonly CountedKind[] = [
  ...["pods", "services", "persistentvolumeclaims"].map((resource) => ({ group: "", resource })),
  ...["configmaps", "replicationcontrollers", "resourcequotas", "secrets"].map((resource) => ({ group: "", resource })),
  { group: devices, resource: "resourceclaims" },
];

/** Reads each collection once. */
export function openMeasure(client: Sender, namespace: string): Measure {
  const read = new Map<string, Promise<readonly KubeObject[] | undefined>>();
  const objectsOf = (kind: CountedKind, isNamespaced = true): Promise<readonly KubeObject[] | undefined> => {
    const key = `${kind.group}/${kind.resource}`;
    const found = read.get(key) ?? listKind(client, kind, isNamespaced ? namespace : undefined);
    read.set(key, found);
    return found;
  };
  const { gates } = parseFeatureGates("");
  let relations: Promise<ClaimRelations> | undefined;
  return async (name, scopes) => {
    relations ??= readRelations(objectsOf);
    const evaluators = createEvaluators({ clock: systemClock, gates, relations: await relations });
    let measured: MeasuredObject[] | undefined;
    for (const kind of kindsOf(name)) {
      const evaluator = evaluators.of(kind.group, kind.resource);
      const objects = evaluator?.matches(name) ? await objectsOf(kind) : undefined;
      if (evaluator === undefined || objects === undefined) continue;
      measured = [...(measured ?? []), ...measureObjects(kind, objects, evaluator, name, scopes)];
    }
    return measured;
  };
}

function kindsOf(name: string): readonly CountedKind[] {
  const [, resource, group = ""] = /^count\/([^.]+)(?:\.(.+))?$/.exec(name) ?? [];
  if (resource === undefined || specialKinds.some((kind) => kind.resource === resource && kind.group === group))
    return specialKinds;
  return [{ group, resource }];
}

function measureObjects(
  { group, resource }: CountedKind,
  objects: readonly KubeObject[],
  evaluator: Evaluator,
  name: string,
  scopes: readonly ScopeRequirement[],
): MeasuredObject[] {
  return objects
    .filter((object) => scopes.every((scope) => evaluator.isInScope?.(scope, object) ?? false))
    .flatMap((object) => {
      const amount = evaluator.usageOf(object).get(name);
      if (amount === undefined || amount.mantissa === 0n) return [];
      return [{ resource: group === "" ? resource : `${resource}.${group}`, name: object.metadata.name ?? "", amount }];
    });
}

/** @returns undefined if the server does not have the kind */
async function listKind(
  client: Sender,
  { group, resource }: CountedKind,
  namespace: string | undefined,
): Promise<readonly KubeObject[] | undefined> {
  try {
    const base = group === "" ? "/api/v1" : `/apis/${await preferredVersion(client, group)}`;
    const place = namespace === undefined ? "" : `/namespaces/${encodeURIComponent(namespace)}`;
    return await listAll(client, `${base}${place}/${encodeURIComponent(resource)}`);
  } catch (error) {
    if (error instanceof RequestRejected && error.status === 404) return undefined;
    throw error;
  }
}

async function preferredVersion(client: Sender, group: string): Promise<string> {
  const { preferredVersion: preferred } = await ask(client, "GET", `/apis/${encodeURIComponent(group)}`);
  return preferred.groupVersion;
}

/** Device classes matter only if the namespace has claims. */
async function readRelations(
  objectsOf: (kind: CountedKind, isNamespaced?: boolean) => Promise<readonly KubeObject[] | undefined>,
): Promise<ClaimRelations> {
  const claims = (await objectsOf({ group: devices, resource: "resourceclaims" })) ?? [];
  if (claims.length === 0)
    return { extendedResourceOf: () => undefined, hasClassFor: () => false, podOf: () => undefined };
  const classes = (await objectsOf({ group: devices, resource: "deviceclasses" }, false)) ?? [];
  const pods = (await objectsOf({ group: "", resource: "pods" })) ?? [];
  const resources = new Map<string, string>();
  for (const { metadata, spec } of classes)
    if (spec?.extendedResourceName) resources.set(metadata.name ?? "", spec.extendedResourceName);
  const provided = new Set([
    ...resources.values(),
    ...classes.map(({ metadata }) => `deviceclass.resource.kubernetes.io/${metadata.name}`),
  ]);
  return {
    extendedResourceOf: (deviceClass) => resources.get(deviceClass),
    hasClassFor: (resource) => provided.has(resource),
    podOf: (claim) =>
      podOfClaim(claim, {
        findPod: (name) => pods.find(({ metadata }) => metadata.name === name),
        claimsAbout: () => claims,
      }),
  };
}
