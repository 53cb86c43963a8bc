/**
 * The steps of one election. Source: reconcileElectionStep in
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/leaderelection/leaderelection_controller.go`.
 */

import { formatMicroTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { currentEntry } from "../../registry/current-entry.ts";
import { create, update } from "../audited-writes.ts";
import type { ControllerOptions } from "../contract.ts";
import { serverWrites } from "../controller-write.ts";
import {
  bestLeader,
  bestStrategy,
  type Candidate,
  candidateOf,
  ElectionProblem,
  hasAnswered,
  isCandidateExpired,
  mayAnswer,
  needsElection,
  needsPing,
  oldestEmulationVersion,
} from "./candidates.ts";
import { applyResult, type Elected, newSpec } from "./elected-lease.ts";

/** The two kinds of an election. */
export interface ElectionKinds {
  readonly leases: Resolved & { readonly store: ResourceStore };
  readonly candidates: Resolved & { readonly store: ResourceStore };
}

/** Writes of the server. */
export const writes = serverWrites;

/** @returns undefined when one of the kinds is not served */
export function electionKinds({ catalog }: RegistryContext): ElectionKinds | undefined {
  const find = (version: string, resource: string) => {
    const target = catalog.findServed("coordination.k8s.io", version, resource);
    const store = target?.resource.store;
    return target === undefined || store === undefined ? undefined : { ...target, store };
  };
  const leases = find("v1", "leases");
  const candidates = find("v1beta1", "leasecandidates");
  return leases === undefined || candidates === undefined ? undefined : { leases, candidates };
}

/**
 * Takes the next step of an election: pings the candidates, or elects one of those that have
 * answered. The state of an election is that of its objects.
 *
 * @returns whether the Lease is to be checked again after a while
 * @throws ApiError
 */
export async function stepElection(
  { registry, logger }: ControllerOptions,
  kinds: ElectionKinds,
  key: string,
): Promise<boolean> {
  const slash = key.indexOf("/");
  const [namespace, name] = [key.slice(0, slash), key.slice(slash + 1)];
  const now = registry.clock.now();
  const candidates = await candidatesOf(kinds, namespace, name, now);
  if (candidates.length === 0) return false;
  const entry = await currentEntry(kinds.leases.store, kinds.leases.store.keyOf(namespace, name));
  const isNeeded = (): boolean => needsElection(candidates, entry && kinds.leases.store.decode(entry), now);
  try {
    if (!isNeeded()) return true;
    if ((await ping(registry, kinds, namespace, candidates)) || candidates.some((one) => mayAnswer(one, now)))
      return true;
    const elected = electOne(candidates.filter((one) => hasAnswered(one, now)));
    await writeLease(registry, kinds, { namespace, name }, elected);
    return true;
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof ElectionProblem)) throw error;
    logger.error("Failed to reconcile election step", { lease: key, error: error.message });
    return true;
  }
}

/** @throws ElectionProblem */
function electOne(candidates: readonly Candidate[]): Elected {
  const strategy = bestStrategy(candidates);
  if (strategy !== oldestEmulationVersion) return { strategy, holder: undefined };
  const leader = bestLeader(candidates);
  if (leader === undefined) throw new ElectionProblem("no candidate has valid versions");
  return { strategy, holder: leader.name };
}

async function candidatesOf(
  { candidates: { store } }: ElectionKinds,
  namespace: string,
  lease: string,
  now: number,
): Promise<Candidate[]> {
  const found: Candidate[] = [];
  for (const entry of (await store.cache.current()).range(store.keyOf(namespace, ""))) {
    const object = store.decode(entry);
    const candidate = candidateOf(object, entry.revision);
    if (object.spec?.leaseName === lease && !isCandidateExpired(candidate, now)) found.push(candidate);
  }
  return found;
}

/** @returns whether a candidate was pinged @throws ApiError */
async function ping(
  registry: RegistryContext,
  { candidates: target }: ElectionKinds,
  namespace: string,
  candidates: readonly Candidate[],
): Promise<boolean> {
  const now = registry.clock.now();
  const pinged = candidates.filter((one) => needsPing(one, now));
  const pingOne = async ({ name, revision }: Candidate): Promise<void> => {
    await update(registry, {
      ...writes.of(target, namespace, name),
      ifMatch: String(revision),
      createsMissing: false,
      next(current) {
        const candidate = (current as () => KubeObject)();
        candidate.spec.pingTime = formatMicroTime(now);
        return candidate;
      },
    });
  };
  await Promise.all(pinged.map(pingOne));
  return pinged.length > 0;
}

async function writeLease(
  registry: RegistryContext,
  { leases: target }: ElectionKinds,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  elected: Elected,
): Promise<void> {
  const now = registry.clock.now();
  const newLease = (): KubeObject => ({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace },
    spec: newSpec(elected, now),
  });
  const existing = await currentEntry(target.store, target.store.keyOf(namespace, name));
  if (existing === undefined) {
    await create(registry, { ...writes.of(target, namespace, ""), decode: newLease });
    return;
  }
  await update(registry, {
    ...writes.of(target, namespace, name),
    next(current) {
      if (current === undefined) return newLease();
      const lease = current();
      applyResult(lease, elected, now);
      return lease;
    },
  });
}
