/**
 * Repeatedly gets one object from a separate process, and reports the slowest time. Arguments: the
 * target as JSON, the path.
 */
import { BenchClient, type Target } from "../client.ts";

const client = new BenchClient(JSON.parse(process.argv[2] as string) as Target);
const path = process.argv[3] as string;
let took: number[] = [];

process.on("message", () => {
  const sorted = took.sort((a, b) => a - b);
  took = [];
  process.send?.({
    count: sorted.length,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    maxMs: sorted.at(-1) ?? 0,
  });
});
process.on("disconnect", () => process.exit(0));
await client.read(path);
process.send?.("ready");
for (;;) {
  took.push((await client.read(path)).ms);
  await new Promise((resolve) => setTimeout(resolve, 1));
}
