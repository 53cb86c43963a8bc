/** The part of priority levels that flow control needs. */
import type { KubeObject } from "../apimachinery/object.ts";
import type { Part } from "../apis/fields.ts";
import { mandatoryLevels } from "../apis/flowcontrol/mandatory.ts";
import type { QueuingConfig } from "../lib/fair-queuing/contract.ts";
import { checkDeal } from "../lib/fair-queuing/deal.ts";
import type { ConfiguredLimits } from "./contract.ts";

/** A priority level. */
export interface PriorityLevel {
  readonly name: string;
  readonly uid: string;
  readonly isExempt: boolean;
  readonly shares: number;
  readonly lendablePercent: number;
  /** Undefined: the level can borrow all seats. */
  readonly borrowingPercent: number | undefined;
  readonly queuing: QueuingConfig;
}

const exempt: QueuingConfig = { queues: -1, handSize: 0, queueLengthMax: 0 };
const rejecting: QueuingConfig = { queues: 0, handSize: 0, queueLengthMax: 0 };

/**
 * Reads a PriorityLevelConfiguration object.
 * @returns undefined for a spec that validation would reject
 */
export function readPriorityLevel({
  metadata: { name = "", uid = "" },
  spec = {},
}: KubeObject): PriorityLevel | undefined {
  const isExempt = spec.type === "Exempt";
  const part: Part | undefined = isExempt ? spec.exempt : spec.limited;
  const queuing = isExempt ? exempt : queuingOf(part?.limitResponse);
  if (part === undefined || queuing === undefined || isExempt !== (name === "exempt")) return undefined;
  return {
    name,
    uid,
    isExempt,
    shares: part.nominalConcurrencyShares ?? 0,
    lendablePercent: part.lendablePercent ?? 0,
    borrowingPercent: isExempt ? undefined : part.borrowingLimitPercent,
    queuing,
  };
}

function queuingOf({ type, queuing }: Part = {}): QueuingConfig | undefined {
  if (type === "Reject") return rejecting;
  if (type !== "Queue" || queuing === undefined) return undefined;
  const { queues, handSize, queueLengthLimit: queueLengthMax } = queuing;
  return checkDeal(queues, handSize) === undefined ? { queues, handSize, queueLengthMax } : undefined;
}

/** The mandatory levels as they are without an object. */
export const imaginedLevels: readonly PriorityLevel[] = Object.entries(mandatoryLevels).flatMap(([name, spec]) => {
  const level = readPriorityLevel({ apiVersion: "", kind: "", metadata: { name }, spec });
  return level === undefined ? [] : [level];
});

/** @param serverSeats the concurrency limit of the server @param shares those of all levels */
export function limitsOf(level: PriorityLevel, serverSeats: number, shares: number): ConfiguredLimits {
  const nominal = shares === 0 ? 0 : Math.ceil((serverSeats * level.shares) / shares);
  const percentOf = (percent: number): number => Math.round((nominal * percent) / 100);
  const borrowed = level.borrowingPercent === undefined ? serverSeats : percentOf(level.borrowingPercent);
  return { nominal, min: nominal - percentOf(level.lendablePercent), max: nominal + borrowed };
}

/** A request occupies at most this fraction of the nominal limit. */
const widthRatioMax = 0.15;

/**
 * The most seats of one request: with more, few flows would block the level.
 * @returns 0 for levels without queues, which set no limit
 */
export function widthMaxOf({ queuing }: PriorityLevel, nominal: number): number {
  if (queuing.queues <= 0) return 0;
  return Math.max(1, Math.min(Math.ceil(nominal * widthRatioMax), Math.trunc(nominal / queuing.handSize)));
}
