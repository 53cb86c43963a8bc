import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

const script = `
import { systemClock } from ${JSON.stringify(import.meta.resolve("./clock.ts"))};

const heapUsed = () => {
  gc();
  return process.memoryUsage().heapUsed;
};
systemClock.after(1, () => {})();
const before = heapUsed();
for (let delayMs = 0; delayMs < 20_000; delayMs++) systemClock.after(1_000_000 + delayMs, () => {})();
console.log((heapUsed() - before) / 2 ** 20);
`;

test("a delay beyond the limit of Node.js does not end at once", () => {
  const beyond = `
import { systemClock } from ${JSON.stringify(import.meta.resolve("./clock.ts"))};
for (const delayMs of [2 ** 31, 1e15, Number.POSITIVE_INFINITY]) systemClock.after(delayMs, () => {});
`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", beyond], { encoding: "utf8" });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: "" }); // Node.js warns, and waits for a millisecond.
});

test("cancelled timers with many different delays keep no memory", () => {
  const args = ["--expose-gc", "--input-type=module", "-e", script];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const grownMiB = Number.parseFloat(stdout);
  assert.ok(grownMiB < 1, `the heap has grown by ${stdout} MiB\n${stderr}`);
});
