/**
 * The cost of auditing: a get at level Metadata, which writes two events, compared with the same
 * get without audit.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";

export interface AuditCost {
  /** Server CPU per get, milliseconds. */
  readonly without: number;
  readonly blocking: number;
  readonly batch: number;
}

const path = "/api/v1/namespaces/default";

/** @param requests of each mode */
export async function auditCost(requests: number): Promise<AuditCost> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
  const cost = async (...mode: string[]): Promise<number> => {
    const child = await startChild(new URL("server-audited.ts", import.meta.url), [directory, ...mode]);
    const client = new BenchClient(child.ready as unknown as Target);
    const gets = (): Promise<void> => client.run(requests, 16, () => ({ method: "GET", path }), 200);
    await gets(); // Warm-up.
    const before = await child.usage();
    await gets();
    const { cpuMs } = await child.usage();
    client.close();
    await child.stop();
    return (cpuMs - before.cpuMs) / requests;
  };
  const costs = { without: await cost(), blocking: await cost("blocking"), batch: await cost("batch") };
  rmSync(directory, { recursive: true, force: true });
  return costs;
}

/** `npm run bench -- --audit` */
export async function auditBench(): Promise<void> {
  for (const [what, measured, ratio] of auditRows(await auditCost(10_000)))
    console.log(`${what.padEnd(62)} ${measured.padStart(12)} ${ratio}`);
}

export function auditRows({ without, blocking, batch }: AuditCost): [what: string, measured: string, ratio: string][] {
  const row = (mode: string, value: number): [string, string, string] => [
    `a get recorded at the level Metadata, mode ${mode}: added`,
    `${(value - without).toFixed(4)} ms`,
    `${(value / without).toFixed(2)} × without audit`,
  ];
  return [row("blocking", blocking), row("batch", batch)];
}
