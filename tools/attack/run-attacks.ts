/** Runs attacks one after the other and judges what each costs. */
import { undefine } from "./attacks/parsers.ts";
import { type Attack, stallMsMax } from "./contract.ts";
import { costOf, idleCpuMs } from "./measure.ts";
import type { Target } from "./target.ts";

export interface Result {
  readonly attack: Attack;
  readonly size: number;
  readonly bytes: number;
  readonly answer: string;
  readonly cpuMs: number;
  readonly stallMs: number;
  /** What the server may use. */
  readonly cpuMsMax: number;
  /** Why the attack has succeeded; undefined if it has not. */
  readonly problem: string | undefined;
}

export interface RunOptions {
  readonly runs: number;
  /** Divides the sizes. */
  readonly divisor: number;
  /** Multiplies the bounds, for a machine with other work. */
  readonly cpuTolerance: number;
  readonly stallTolerance: number;
  readonly report: (result: Result) => void;
}

/** @returns the results in the order of the attacks; those after the end of the server are missing */
export async function runAttacks(
  target: Target,
  attacks: readonly Attack[],
  { runs, divisor, report, ...tolerance }: RunOptions,
): Promise<Result[]> {
  const { namespace } = target;
  await target.send({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  const results: Result[] = [];
  try {
    const idleMs = await idleCpuMs(target);
    for (const attack of attacks) {
      const size = attack.size < 100 ? attack.size : Math.ceil(attack.size / divisor);
      const result = await judge(target, attack, { size, runs, idleMs, ...tolerance });
      const alive = await isAlive(target);
      results.push(alive ? result : { ...result, problem: "the server has ended" });
      report(results.at(-1) as Result);
      if (!alive) break;
    }
  } finally {
    if (await isAlive(target)) await cleanUp(target);
  }
  return results;
}

interface Judging {
  readonly size: number;
  readonly runs: number;
  readonly idleMs: number;
  readonly cpuTolerance: number;
  readonly stallTolerance: number;
}

async function judge(
  target: Target,
  attack: Attack,
  { cpuTolerance, stallTolerance, ...options }: Judging,
): Promise<Result> {
  const { size } = options;
  try {
    await attack.prepare?.(target);
    const cost = await costOf(target, attack, options);
    const cpuMsMax = cpuTolerance * (attack.bound.cpuMs + (attack.bound.cpuMsPer100KB * cost.bytes) / 100_000);
    return {
      attack,
      size,
      ...cost,
      cpuMsMax,
      problem: problemOf(cost, cpuMsMax, stallTolerance * (attack.bound.stallMs ?? stallMsMax)),
    };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    return { attack, size, bytes: 0, answer: "", cpuMs: 0, stallMs: 0, cpuMsMax: 0, problem };
  }
}

function problemOf(
  { cpuMs, stallMs }: { readonly cpuMs: number; readonly stallMs: number },
  cpuMsMax: number,
  stallMax: number,
): string | undefined {
  if (cpuMs > cpuMsMax) return `uses ${cpuMs.toFixed(0)} ms of CPU time instead of ${cpuMsMax.toFixed(0)}`;
  return stallMs > stallMax ? `blocks the server for ${stallMs.toFixed(0)} ms` : undefined;
}

async function isAlive(target: Target): Promise<boolean> {
  try {
    return (await target.send({ path: "/livez" })).status === 200;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false; // The server has closed the connection, or does not listen.
    throw error;
  }
}

async function cleanUp(target: Target): Promise<void> {
  await undefine(target);
  await target.send({ method: "DELETE", path: `/api/v1/namespaces/${target.namespace}` });
}
