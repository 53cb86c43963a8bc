/**
 * For start.ts: what tests wait for that start servers in their own process, of the packed library, and a bare
 * `node -e 0` and a bare `node:http2` server over TLS.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createCertificates } from "../src/server/serving/certificates.ts";
import { median } from "./median.ts";

const rounds = 5;
/** Further servers of each process. */
const further = 8;
const manyServers = 200;

interface Figures {
  readonly importMs: number;
  /** Of the first server and the further ones, in order. */
  readonly startMs: readonly number[];
  readonly closeMs: readonly number[];
  readonly rssMiB: number;
}

/** Runs in a process of its own. With `keep`, all servers are open at the same time. */
const library = (index: string, count: number, keep: boolean): string => `
  const time = async (run) => { const from = performance.now(); const value = await run(); return [performance.now() - from, value]; };
  const [importMs, { startServer }] = await time(() => import(${JSON.stringify(index)}));
  const [startMs, closeMs, open] = [[], [], []];
  for (let i = 0; i < ${count}; i++) {
    const [ms, server] = await time(() => startServer());
    startMs.push(ms);
    if (${keep}) open.push(server);
    else closeMs.push((await time(() => server.close()))[0]);
  }
  const rssMiB = process.memoryUsage.rss() / 2 ** 20;
  for (const server of open) await server.close();
  console.log(JSON.stringify({ importMs, startMs, closeMs, rssMiB }));
`;

const bareServer = (pair: string): string => `
  import { readFileSync } from "node:fs";
  import http2 from "node:http2";
  const pair = JSON.parse(readFileSync(${JSON.stringify(pair)}, "utf8"));
  http2.createSecureServer(pair).listen(0, "127.0.0.1", () => process.exit());
`;

/** Prints medians of some processes of each, which alternate. @param index the file of the library */
export async function libraryStartBench(index: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-start-library-"));
  try {
    const pair = join(directory, "pair.json");
    const { serving } = await createCertificates({ now: Date.now(), names: ["127.0.0.1"] });
    writeFileSync(pair, JSON.stringify(serving), { mode: 0o600 });
    const times: { empty: number; bare: number; whole: number; figures: Figures }[] = [];
    for (let round = 0; round < rounds; round++) {
      const [empty] = timed("0");
      const [bare] = timed(bareServer(pair));
      const [whole] = timed(library(index, 1, false));
      const [, output] = timed(library(index, 1 + further, false));
      times.push({ empty, bare, whole, figures: JSON.parse(output) });
    }
    const figures = times.map((one) => one.figures);
    const rows: [what: string, ms: number][] = [
      ["node -e 0, the process", median(times.map(({ empty }) => empty))],
      ["a bare node:http2 server with TLS, the process", median(times.map(({ bare }) => bare))],
      ["import, start and close a server, the process", median(times.map(({ whole }) => whole))],
      ["import", median(figures.map(({ importMs }) => importMs))],
      ["first server", median(figures.map(({ startMs: [first = 0] }) => first))],
      ["second server", median(figures.map(({ startMs: [, second = 0] }) => second))],
      ["a further server", median(figures.flatMap(({ startMs }) => startMs.slice(2)))],
      ["close", median(figures.flatMap(({ closeMs }) => closeMs.slice(1)))],
    ];
    for (const [what, ms] of rows) console.log(`${what}: ${ms.toFixed(1)} ms`);
    const { rssMiB }: Figures = JSON.parse(timed(library(index, manyServers, true))[1]);
    console.log(`${manyServers} servers in one process: ${rssMiB.toFixed(0)} MiB`);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** @returns the milliseconds that a process with this script takes, and what it prints */
function timed(script: string): [ms: number, output: string] {
  const from = performance.now();
  const output = execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
  return [performance.now() - from, output];
}
