/** Attacks that are one request each. */
import { type Attack, type Bound, usualBound } from "./contract.ts";
import type { AttackRequest, Target } from "./target.ts";

export interface RequestRow {
  readonly group: string;
  readonly name: string;
  readonly size: number;
  readonly bound?: Bound;
  /** Statuses that the answer may have; the default is any below 500. */
  readonly statuses?: readonly number[];
  prepare?(target: Target): Promise<void>;
  request(size: number, target: Target): AttackRequest;
}

/** @returns an attack that sends the request and checks the status of the answer */
export function requestAttack({ bound = usualBound, statuses, request, ...row }: RequestRow): Attack {
  return {
    ...row,
    bound,
    async run(target, size) {
      const { status, text, sentBytes } = await target.send(request(size, target));
      if (statuses === undefined ? status >= 500 : !statuses.includes(status))
        throw new Error(`answered ${status}: ${text.slice(0, 300)}`);
      return { bytes: sentBytes, answer: String(status) };
    },
  };
}
