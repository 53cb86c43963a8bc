/**
 * `npm run bench -- --large`: the longest turn of the event loop while the server answers one large request of each kind, in CPU time without
 * collections of garbage. The goals: 10 ms for requests of up to 256 KiB, 30 ms for all others.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild } from "./child.ts";
import { BenchClient, type BenchRequest, type Target } from "./client.ts";
import { type LargeRequest, largeBodies } from "./large-bodies.ts";
import type { Stall } from "./loop-stalls.ts";
import { median } from "./median.ts";

const [smallBytesMax, smallGoalMs, goalMs] = [256 << 10, 10, 30];
/** Of which the median counts, without the first, which compiles functions. */
const rounds = 6;
const listCount = 3_000;

/** @param only a text in the names of the kinds to measure; all if empty */
export async function largeRequestsBench(only: string): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-large-"));
  const child = await startChild(new URL("server-coxswain.ts", import.meta.url), [join(directory, "data")]);
  const client = new BenchClient(child.ready as unknown as Target);
  try {
    await fillList(client);
    for (const kind of largeBodies().filter(({ what }) => what.includes(only))) {
      const stalls: Stall[] = [];
      let answer = { status: 0, body: "" };
      for (let round = 0; round < rounds; round++) {
        for (const request of kind.before ?? []) await client.send(request);
        const send = async (): Promise<void> => {
          answer = await client.send(kind.request);
        };
        stalls.push(await child.stallDuring(send));
      }
      show(kind, stalls, answer);
    }
  } finally {
    client.close();
    await child.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Objects of a list. */
async function fillList(client: BenchClient): Promise<void> {
  const object = (at: number): object => ({
    metadata: { name: `list-${at}`, labels: { list: "yes" } },
    data: { payload: "x".repeat(1024) },
  });
  const post = (at: number): BenchRequest => ({
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    body: JSON.stringify(object(at)),
  });
  await client.run(listCount, 16, post, 201);
}

function show(
  { what, request }: LargeRequest,
  stalls: readonly Stall[],
  answer: { status: number; body: string },
): void {
  const sent = Buffer.byteLength(request.body ?? "");
  const [first, ...others] = stalls.map(({ cpuMs }) => cpuMs) as [number, ...number[]];
  const usual = median(others);
  const isSmall = sent <= smallBytesMax && answer.body.length <= smallBytesMax;
  const goal = isSmall ? smallGoalMs : goalMs;
  const kib = (bytes: number): string => `${(bytes / 1024).toFixed(0)} KiB`.padStart(10);
  console.log(
    `${what.padEnd(50)}${kib(sent)} ->${kib(answer.body.length)}, ${answer.status}: longest turn ${usual.toFixed(1).padStart(6)} ms (first ${first.toFixed(0)}, collections ${Math.max(...stalls.map(({ gcMs }) => gcMs)).toFixed(0)})${usual > goal ? `  ABOVE ${goal} ms` : ""}`,
  );
}
