/**
 * The rules of coordinated elections as functions of the candidates. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/leaderelection/election.go`.
 */

import type { KubeObject } from "../../apimachinery/object.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { compareVersions, parseVersion, zeroVersion } from "../../lib/semantic-version/semantic-version.ts";

/** The strategy that this server knows; others elect leaders by other controllers. */
export const oldestEmulationVersion = "OldestEmulationVersion";

/** How long candidates have to answer a ping, and how long their answer counts. */
export const electionMs = 5_000;
/** Candidates without a renewal for so long have ended. */
const candidateValidMs = 30 * 60_000;

/** A LeaseCandidate. */
export interface Candidate {
  readonly name: string;
  readonly strategy: string;
  readonly emulationVersion: string;
  readonly binaryVersion: string;
  readonly creationTimestamp: string;
  /** Canonical texts of MicroTime; empty if unset. */
  readonly pingTime: string;
  readonly renewTime: string;
  readonly revision: number;
}

/** Why no candidate can be elected. */
export class ElectionProblem extends Error {
  constructor(message: string) {
    super(message);
    this.name = "ElectionProblem";
  }
}

/** @param revision of the object in the store */
export function candidateOf({ metadata, spec = {} }: KubeObject, revision: number): Candidate {
  return {
    name: metadata.name ?? "",
    strategy: spec.strategy ?? "",
    emulationVersion: spec.emulationVersion ?? "",
    binaryVersion: spec.binaryVersion ?? "",
    creationTimestamp: metadata.creationTimestamp ?? "",
    pingTime: spec.pingTime ?? "",
    renewTime: spec.renewTime ?? "",
    revision,
  };
}

/** @returns whether the text is a time more than so many milliseconds ago; false for an empty text */
function isOlder(time: string, ms: number, now: number): boolean {
  return time !== "" && Date.parse(time) + ms < now;
}

/** @returns whether the text is a time less than {@link electionMs} ago, or in the future */
function isRecent(time: string, now: number): boolean {
  return time !== "" && Date.parse(time) + electionMs > now;
}

/** @returns whether the candidate was pinged and has not answered; times are compared as texts of equal length */
export function isPending({ pingTime, renewTime }: Candidate): boolean {
  return pingTime !== "" && renewTime < pingTime;
}

/** @returns whether the candidate still has time to answer its ping */
export function mayAnswer(candidate: Candidate, now: number): boolean {
  return isPending(candidate) && isRecent(candidate.pingTime, now);
}

/** @returns whether the candidate takes part in the election */
export function hasAnswered({ renewTime }: Candidate, now: number): boolean {
  return isRecent(renewTime, now);
}

/** @returns whether the candidate is to be pinged: it never was, or has answered an earlier ping */
export function needsPing(candidate: Candidate, now: number): boolean {
  if (mayAnswer(candidate, now) || hasAnswered(candidate, now)) return false;
  return candidate.pingTime === "" || (isOlder(candidate.pingTime, electionMs, now) && !isPending(candidate));
}

/** @returns whether the candidate has ended */
export function isCandidateExpired({ renewTime }: Pick<Candidate, "renewTime">, now: number): boolean {
  return renewTime === "" || isOlder(renewTime, candidateValidMs, now);
}

/** @returns whether the candidate is to renew before it counts as one that has ended */
function isStale({ renewTime }: Candidate, now: number): boolean {
  return isOlder(renewTime, candidateValidMs / 2, now);
}

/** @returns whether the Lease has no living holder, as its times say */
export function isLeaseExpired({ spec = {} }: KubeObject, now: number): boolean {
  const { renewTime, leaseDurationSeconds: seconds } = spec;
  return renewTime === undefined || seconds === undefined || isOlder(renewTime, seconds * 1000, now);
}

/**
 * The strategy of the candidates with the newest binary.
 * @throws ElectionProblem when they disagree
 */
export function bestStrategy(candidates: readonly Candidate[]): string {
  const [first, ...others] = candidates;
  if (first === undefined) throw new ElectionProblem("no available candidates");
  let best = first;
  for (const one of others) {
    const order = compareVersions(versionOf(best.binaryVersion), versionOf(one.binaryVersion));
    if (order < 0) best = one;
    else if (order === 0 && one.strategy !== best.strategy)
      throw new ElectionProblem(
        `candidates ${quoteGo(best.name)}, ${quoteGo(one.name)} at same binary version but received differing strategies ${best.strategy}, ${one.strategy}`,
      );
  }
  return best.strategy;
}

/** @returns the candidate with the oldest emulation version, then the oldest binary, then the oldest itself */
export function bestLeader(candidates: readonly Candidate[]): Candidate | undefined {
  const valid = candidates.filter(
    ({ emulationVersion, binaryVersion }) =>
      parseVersion(emulationVersion) !== undefined && parseVersion(binaryVersion) !== undefined,
  );
  return valid.sort(compare)[0];
}

function compare(a: Candidate, b: Candidate): number {
  return (
    compareVersions(versionOf(a.emulationVersion), versionOf(b.emulationVersion)) ||
    compareVersions(versionOf(a.binaryVersion), versionOf(b.binaryVersion)) ||
    Date.parse(a.creationTimestamp) - Date.parse(b.creationTimestamp)
  );
}

function versionOf(text: string) {
  return parseVersion(text) ?? zeroVersion;
}

/**
 * Decides whether the Lease may need another holder.
 * @throws ElectionProblem when the candidates disagree about the strategy
 */
export function needsElection(candidates: readonly Candidate[], lease: KubeObject | undefined, now: number): boolean {
  if (lease === undefined || isLeaseExpired(lease, now)) return true;
  const holder: string = lease.spec.holderIdentity ?? "";
  if (holder === "" || candidates.some((one) => isStale(one, now))) return true;
  if (bestStrategy(candidates) !== oldestEmulationVersion) return false;
  const electee = bestLeader(candidates);
  return electee !== undefined && electee.name !== holder;
}
