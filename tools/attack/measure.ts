/** Measures what an attack costs the server: its CPU time, and how long it answers no other request. */
import type { Attack, Sent } from "./contract.ts";
import type { Target } from "./target.ts";

export interface Cost extends Sent {
  readonly cpuMs: number;
  /** The longest answer to another client during the attack. */
  readonly stallMs: number;
}

/**
 * Runs an attack several times. The first run compiles code of the server, and other work of the
 * machine disturbs some runs, so that the least values count.
 *
 * @param idleMs the CPU time of a measurement without an attack
 * @throws Error that of the attack
 */
export async function costOf(
  target: Target,
  attack: Attack,
  { size, runs, idleMs }: { readonly size: number; readonly runs: number; readonly idleMs: number },
): Promise<Cost> {
  let least: Cost | undefined;
  for (let run = 0; run < runs; run++) {
    const before = await cpuMsOf(target);
    const probe = probeAnswers(target);
    const [sent, stallMs] = await Promise.all([attack.run(target, size).finally(() => probe.end()), probe.longest]);
    const cpuMs = Math.max(0, (await cpuMsOf(target)) - before - idleMs);
    least = {
      ...sent,
      cpuMs: Math.min(cpuMs, least?.cpuMs ?? cpuMs),
      stallMs: Math.min(stallMs, least?.stallMs ?? stallMs),
    };
  }
  if (least === undefined) throw new RangeError("an attack needs at least one run");
  return least;
}

/** The CPU time of a measurement alone: of two requests for metrics and the probes between them. */
export async function idleCpuMs(target: Target): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 5; run++) {
    const before = await cpuMsOf(target);
    const probe = probeAnswers(target);
    await target.send({ path: "/version" });
    probe.end();
    await probe.longest;
    least = Math.min(least, (await cpuMsOf(target)) - before);
  }
  return least;
}

async function cpuMsOf(target: Target): Promise<number> {
  const { text } = await target.send({ path: "/metrics" });
  const seconds = /^process_cpu_seconds_total (\S+)$/m.exec(text)?.[1];
  if (seconds === undefined) throw new Error("the server has no metric process_cpu_seconds_total");
  return Number(seconds) * 1000;
}

/** Sends one small request after the other, as another client would. */
function probeAnswers(target: Target): { end(): void; readonly longest: Promise<number> } {
  let ended = false;
  const probe = async (): Promise<number> => {
    let longest = 0;
    while (!ended) {
      const sentAt = performance.now();
      if (!(await answers(target))) return Number.POSITIVE_INFINITY;
      longest = Math.max(longest, performance.now() - sentAt);
      await new Promise((resolve) => setTimeout(resolve, probeMs));
    }
    return longest;
  };
  const end = (): void => {
    ended = true;
  };
  return { end, longest: probe() };
}

async function answers(target: Target): Promise<boolean> {
  try {
    await target.send({ path: "/version" });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false; // The server has ended.
    throw error;
  }
}

/** Between two probes. */
const probeMs = 5;
