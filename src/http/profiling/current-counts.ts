/** What the process has at the moment, counted by name: profiles without stacks. Loaded with the first one. */
import { readdir, readFile } from "node:fs/promises";
import { encodePprof } from "../../lib/pprof/pprof.ts";

/** How many there are of each name. */
export type Counts = ReadonlyMap<string, number>;

/** What keeps the event loop running, by its type in Node.js, such as `TCPSocketWrap` and `Timeout`. */
export function activeResources(): Counts {
  return countsOf(process.getActiveResourcesInfo());
}

/** The threads of this process, by the name that the kernel has. @returns undefined where it has no list of them */
export async function threads(): Promise<Counts | undefined> {
  const folder = "/proc/self/task";
  const ids = await readdir(folder).catch(() => undefined);
  if (ids === undefined) return undefined;
  // A thread may end meanwhile.
  const names = await Promise.all(ids.map((id) => readFile(`${folder}/${id}/comm`, "utf8").catch(() => "")));
  return countsOf(names.map((name) => name.trimEnd()).filter((name) => name !== ""));
}

function countsOf(names: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return new Map([...counts].sort((a, b) => b[1] - a[1]));
}

/** @param startedAt milliseconds since 1970 */
export function countsProfile(name: string, counts: Counts, startedAt: number): Buffer {
  const samples = [...counts].map(([one, count]) => ({ stack: [{ name: one, file: "", line: 0 }], values: [count] }));
  return encodePprof({ types: [[name, "count"]], samples, period: 1, startedAt, durationMs: 0 });
}

/** In the form of Go's text: the total, and a line for each name. */
export function countsText(name: string, counts: Counts): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const lines = [...counts].map(([one, count]) => `${count} @ ${one}\n`);
  return `${name} profile: total ${total}\n${lines.join("")}`;
}
