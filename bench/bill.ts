/** Where the CPU time of one request goes: a sampled profile of a warm server, charged to the steps of the request. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Profiler } from "node:inspector";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { BenchClient, type Target } from "./client.ts";
import { namespace, type RequestName, requestKinds, requestNames } from "./request-kinds.ts";

const concurrency = 16;
/**
 * A sample is charged to the first row that matches a function of its stack, from the innermost outwards, so that a row contains
 * the libraries that it calls. A pattern is matched with "file function".
 */
const rows: readonly (readonly [row: string, pattern: RegExp])[] = [
  ["collection of garbage", /^ \(garbage collector\)$/],
  ["LMDB", /node_modules\/(lmdb|msgpackr|weak-lru-cache|ordered-binary)\//],
  ["listener of HTTP/2", /^src\/http\/listener\/(http2|begin-in-turns|peer)/],
  ["watch for a blocked loop", /loop-watch/],
  ["reading of the body", /^src\/http\/listener\/request-stream/],
  ["filter: authentication", /^src\/(authentication\/|http\/filters\/authenticat)/],
  ["filter: authorization", /^src\/(authorization\/|http\/filters\/authori|http\/filters\/impersonat)/],
  ["filter: audit", /^src\/(audit\/|http\/filters\/audit)/],
  ["filter: flow control", /^src\/flow-control\/|^src\/server\/flow-control/],
  ["metrics", /^src\/metrics\/|^src\/http\/filters\/metric/],
  ["filters", /^src\/(http\/filters|request\/boundary|request\/lifetime|server\/http|server\/serving)/],
  ["path and query", /^src\/request\/(request-info|query|list-options)|^src\/http\/routes/],
  ["dispatch", /^src\/http\/serve|^src\/forwarding\/aggregator|^src\/catalog\//],
  ["admission: chain", /^src\/admission\/(chain|trace|contract|registry|configurations|[a-z-]+)\.ts/],
  ["admission: plugins", /^src\/admission\//],
  ["managed fields", /^src\/registry\/managed-fields\//],
  ["patch", /^src\/registry\/patch|^src\/registry\/apply/],
  ["decoding", /^src\/registry\/decode/],
  ["encoding", /^src\/registry\/(commit|encode)/],
  ["preparation and validation", /^src\/(registry\/(prepare|validat)|apis\/)/],
  ["registry", /^src\/registry\//],
  ["storage engine", /^src\/storage\//],
  ["event", /^src\/(watch-cache|controllers)\//],
  ["answer", /^src\/(http\/representation|request\/answer|request\/carriable|http\/endpoints)/],
  ["TLS and HTTP/2", /^node:(internal\/http2|net|internal\/tls|_tls|internal\/stream_base)/],
  ["streams, events, timers and promises of Node", /^node:/],
];

/** Prints the bill of one kind of request. @param folder where the profile is written, if given */
export async function billBench(
  kind: RequestName,
  { objects, folder }: { objects: number; folder?: string },
): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-bill-"));
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [directory]);
  const client = new BenchClient(child.ready as unknown as Target);
  const run = (name: RequestName): Promise<void> => {
    const { of, status } = requestKinds[name];
    return client.run(objects, concurrency, of, status);
  };
  await client.send(namespace);
  for (const name of requestNames) await run(name);
  for (const name of requestNames) {
    if (name === kind) break;
    await run(name);
  }
  const before = await child.usage();
  await child.startProfile();
  await run(kind);
  const profile = await child.stopProfile();
  const after = await child.usage();
  if (folder !== undefined) writeFileSync(join(folder, `${kind}.cpuprofile`), JSON.stringify(profile));
  client.close();
  await child.stop();
  rmSync(directory, { recursive: true });
  print(billOf(profile), { objects, wholeMs: after.cpuMs - before.cpuMs, mainMs: after.mainCpuMs - before.mainCpuMs });
}

/** @returns microseconds of the main thread for each row */
function billOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile): ReadonlyMap<string, number> {
  const rowOfNode = new Map<number, string>();
  const parents = new Map<number, number>();
  for (const node of nodes) for (const child of node.children ?? []) parents.set(child, node.id);
  const titles = new Map(nodes.map((node) => [node.id, titleOf(node)]));
  const rowOf = (id: number): string => {
    if (titles.get(id) === " (idle)") return "idle";
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const row = rows.find(([, pattern]) => pattern.test(titles.get(at as number) as string));
      if (row !== undefined) return row[0];
    }
    return "native code";
  };
  const bill = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const row = rowOfNode.get(id) ?? rowOf(id);
    rowOfNode.set(id, row);
    bill.set(row, (bill.get(row) ?? 0) + (timeDeltas[index] ?? 0));
  }
  bill.delete("idle");
  return bill;
}

function titleOf({ callFrame: { functionName, url } }: Profiler.ProfileNode): string {
  const file = url.replace(/^file:\/\/.*?\/(src|node_modules|dist|bench)\//, "$1/");
  return `${file} ${functionName}`;
}

function print(
  bill: ReadonlyMap<string, number>,
  { objects, wholeMs, mainMs }: { objects: number; wholeMs: number; mainMs: number },
): void {
  const line = (row: string, micros: number): void =>
    console.log(
      `${row.padEnd(48)} ${micros.toFixed(1).padStart(8)} µs ${((micros * objects) / (wholeMs * 10)).toFixed(1).padStart(6)} %`,
    );
  for (const [row, micros] of [...bill].toSorted(([, a], [, b]) => b - a)) line(row, micros / objects);
  line("other threads: compilation, garbage, disk", ((wholeMs - mainMs) * 1000) / objects);
  line("altogether", (wholeMs * 1000) / objects);
}
