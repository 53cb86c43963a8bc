/**
 * `npm run fuzz [-- --decoder json|yaml|protobuf|cbor] [--inputs 1000000]`: decodes damaged request bodies. Fails on any result other than an object
 * or a 400, on an input that takes longer than ten seconds, and on a growing heap. Each input has its own seed, counted from `SEED`: `SEED=n` with
 * `--inputs 1` decodes input n again.
 */
import { parseArgs } from "node:util";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { type DecoderName, decoderFuzzer, decoderNames } from "../test/support/decoder-fuzz.ts";

const hangMs = 10_000;
/** Limit of the growth of the heap after warming up. */
const growthMiBMax = 32;

interface Task {
  readonly decoder: DecoderName;
  readonly seed: number;
  readonly inputs: number;
  /** The number of started inputs. */
  readonly progress: Int32Array<SharedArrayBuffer>;
}

if (isMainThread) await main();
else work(workerData as Task);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { decoder: { type: "string", multiple: true }, inputs: { type: "string", default: "1000000" } },
  });
  const seed = Number(process.env.SEED ?? Date.now() % 1_000_000_000);
  for (const decoder of values.decoder ?? decoderNames) {
    if (!decoderNames.includes(decoder as DecoderName)) throw new Error(`unknown decoder: ${decoder}`);
    console.log(`${decoder}: ${values.inputs} inputs, SEED=${seed}`);
    console.log(
      `${decoder}: ${await supervise({ decoder: decoder as DecoderName, seed, inputs: Number(values.inputs), progress: newProgress() })}`,
    );
  }
}

function newProgress(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** @returns the report of the worker @throws Error when the worker fails or an input takes too long */
function supervise(task: Task): Promise<string> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task });
  const replay = (): string =>
    `SEED=${task.seed + Atomics.load(task.progress, 0) - 1} npm run fuzz -- --decoder ${task.decoder} --inputs 1`;
  return new Promise((resolve, reject) => {
    let before = -1;
    const watch = setInterval(() => {
      const now = Atomics.load(task.progress, 0);
      if (now === before && now > 0) void worker.terminate().then(() => reject(new Error(`hangs: ${replay()}`)));
      before = now;
    }, hangMs);
    worker.once("message", resolve);
    worker.once("error", (error) => reject(new Error(replay(), { cause: error })));
    worker.once("exit", () => clearInterval(watch));
  });
}

function work({ decoder, seed, inputs, progress }: Task): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const heapMiB = (): number => {
    collect();
    return process.memoryUsage().heapUsed / (1 << 20);
  };
  const feed = decoderFuzzer(decoder);
  const warm = Math.floor(inputs / 10);
  const startedAt = performance.now();
  let warmMiB = heapMiB();
  let read = 0;
  let slowest = { ms: 0, seed };
  for (let input = 0; input < inputs; input++) {
    Atomics.store(progress, 0, input + 1);
    if (input === warm) warmMiB = heapMiB();
    const from = performance.now();
    if (feed(seed + input)) read++;
    const ms = performance.now() - from;
    if (ms > slowest.ms) slowest = { ms, seed: seed + input };
  }
  const grownMiB = heapMiB() - warmMiB;
  if (grownMiB > growthMiBMax) throw new Error(`the heap grew by ${grownMiB.toFixed(1)} MiB`);
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  parentPort?.postMessage(
    `${read} decoded in ${seconds} s; the slowest took ${slowest.ms.toFixed(0)} ms (SEED=${slowest.seed}); the heap grew by ${grownMiB.toFixed(1)} MiB`,
  );
}
