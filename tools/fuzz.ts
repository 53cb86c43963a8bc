/**
 * `npm run fuzz`: decodes damaged request bodies. Fails on any result other than an object or a 400, on an input that takes
 * longer than ten seconds, and on a growing heap.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { Command, Option } from "commander";
import { type DecoderName, decoderFuzzer, decoderNames } from "../test/support/decoder-fuzz.ts";
import { parseCount } from "../test/support/parse-count.ts";

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
  const program = new Command("npm run fuzz --")
    .description("Decodes damaged request bodies. Each input has a seed of its own.")
    .addOption(
      new Option("--decoder <names...>", "the decoders").choices(decoderNames).default(decoderNames, "all of them"),
    )
    .option("--inputs <count>", "of each decoder", parseCount, 1_000_000)
    .addOption(
      new Option("--seed <number>", "of the first input; the others follow")
        .argParser(parseCount)
        .env("SEED")
        .default(Date.now() % 1_000_000_000, "the time"),
    )
    .parse();
  const { decoder: decoders, inputs, seed } = program.opts<{ decoder: DecoderName[]; inputs: number; seed: number }>();
  for (const decoder of decoders) {
    console.log(`${decoder}: ${inputs} inputs, --seed ${seed}`);
    console.log(`${decoder}: ${await supervise({ decoder, seed, inputs, progress: newProgress() })}`);
  }
}

function newProgress(): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(4));
}

/** @returns the report of the worker @throws Error when the worker fails or an input takes too long */
function supervise(task: Task): Promise<string> {
  const worker = new Worker(new URL(import.meta.url), { workerData: task });
  const replay = (): string =>
    `npm run fuzz -- --decoder ${task.decoder} --inputs 1 --seed ${task.seed + Atomics.load(task.progress, 0) - 1}`;
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
    `${read} decoded in ${seconds} s; the slowest took ${slowest.ms.toFixed(0)} ms (--seed ${slowest.seed}); the heap grew by ${grownMiB.toFixed(1)} MiB`,
  );
}
