/**
 * `npm run bench -- --backup 20000`: the latency of creates under full load, while a client takes
 * backups of a store of so many ConfigMaps of 1 KB by `POST /storage/backup`, and without. Windows
 * of both kinds alternate on one server; a window without a backup lasts as long as one with it.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";

/** The store grows in each round, and so does the duration of the next backup. */
const rounds = 4;
const concurrency = 16;
const warmUpMs = 3000;
const collection = "/api/v1/namespaces/default/configmaps";
const payload = "x".repeat(1024);

interface Window {
  readonly latenciesMs: readonly number[];
  readonly ms: number;
}

export async function backupBench(objects: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-backup-"));
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [join(directory, "data")]);
  const target = child.ready as unknown as Target;
  const [writer, reader] = [new BenchClient(target), new BenchClient(target)];
  let created = 0;
  const post = () => ({ method: "POST", path: collection, body: configMap(created++) });
  await writer.run(objects, 64, post, 201);
  const createUntil = async (over: Promise<unknown>): Promise<Window> => {
    const latenciesMs: number[] = [];
    const startedAt = performance.now();
    let isOver = false;
    const ended = over.finally(() => {
      isOver = true;
    });
    const worker = async (): Promise<void> => {
      while (!isOver) {
        const sentAt = performance.now();
        await writer.run(1, 1, post, 201);
        latenciesMs.push(performance.now() - sentAt);
      }
    };
    await Promise.all([ended, ...Array.from({ length: concurrency }, worker)]);
    return { latenciesMs, ms: performance.now() - startedAt };
  };
  const backUp = () => reader.read("/storage/backup", { method: "POST", accept: "*/*" });

  await createUntil(sleep(warmUpMs));
  const [withBackup, without]: [Window[], Window[]] = [[], []];
  let mib = 0;
  for (let round = 0; round < rounds; round++) {
    const backup = backUp();
    const window = await createUntil(backup);
    mib = (await backup).bytes / (1 << 20);
    withBackup.push(window);
    without.push(await createUntil(sleep(window.ms)));
  }
  console.log(
    `${rounds} backups, the last of ${mib.toFixed(0)} MiB in ${((withBackup.at(-1)?.ms ?? 0) / 1000).toFixed(1)} s`,
  );
  show("creates without a backup", without);
  show("creates during a backup", withBackup);
  const ratios = withBackup
    .map((window, round) => p99([window]) / p99([without[round] as Window]))
    .sort((a, b) => a - b);
  const ratio = (p99(withBackup) / p99(without)).toFixed(2);
  console.log(
    `p99 during a backup: ${ratio} × that without; by round ${ratios.map((each) => each.toFixed(2)).join(" ")}   goal: at most 1.5 ×`,
  );
  writer.close();
  reader.close();
  await child.stop();
  rmSync(directory, { recursive: true, force: true });
}

function configMap(index: number): string {
  return JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: `cm-${index}` }, data: { payload } });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function show(what: string, windows: readonly Window[]): void {
  const creates = windows.reduce((sum, { latenciesMs }) => sum + latenciesMs.length, 0);
  const seconds = windows.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  const rate = (creates / seconds).toFixed(0);
  console.log(
    `${what.padEnd(26)} ${rate} a second, p50 ${quantile(windows, 0.5).toFixed(1)} ms, p99 ${p99(windows).toFixed(1)} ms (${creates} creates)`,
  );
}

function p99(windows: readonly Window[]): number {
  return quantile(windows, 0.99);
}

function quantile(windows: readonly Window[], q: number): number {
  const sorted = Float64Array.from(windows.flatMap(({ latenciesMs }) => latenciesMs)).sort();
  return sorted[Math.floor((sorted.length - 1) * q)] ?? 0;
}
