/**
 * `npm run bench`: measures costs. What it compares runs at the same time or in turns, so that figures are ratios within one
 * run. The file of each bench says what it measures.
 */
import { Command, InvalidArgumentError } from "commander";
import { parseCount } from "../test/support/parse-count.ts";
import { type RequestName, requestNames } from "./request-kinds.ts";

interface Options {
  readonly objects: number;
  readonly memory: number;
  readonly pairs: number;
  readonly profile?: string;
  readonly [bench: string]: unknown;
}

interface Bench {
  /** Of the option that chooses it. The value is `true` without one. */
  readonly flags: string;
  readonly description: string;
  readonly parse?: (text: string) => unknown;
  run(value: never, options: Options): void | Promise<void>;
}

/** By the name of their option. They are loaded when they run, since most need much. */
const benches: Readonly<Record<string, Bench>> = {
  scale: {
    flags: "--scale [row]",
    description: "work with much of something, each with its goal (--objects)",
    run: async (row: string | true, { objects }: Options) =>
      (await import("./scale/main.ts")).scaleBench(textOf(row), { objects }),
  },
  rounds: {
    flags: "--rounds <objects>",
    description: "memory after each of 20 rounds of everything",
    parse: parseCount,
    run: async (objects: number) => (await import("./scale/rounds.ts")).roundsBench(objects),
  },
  watchers: {
    flags: "--watchers <count>",
    description: "many watches",
    parse: parseCount,
    run: async (count: number) => (await import("./watchers.ts")).manyWatchers(count),
  },
  cel: {
    flags: "--cel",
    description: "CEL, compared with other implementations",
    run: async () => (await import("./cel.ts")).celBench(),
  },
  rbac: {
    flags: "--rbac",
    description: "RBAC decisions with many bindings",
    run: async () => (await import("./rbac.ts")).rbacBench(),
  },
  authentication: {
    flags: "--authentication",
    description: "tokens and certificates",
    run: async () => (await import("./authentication.ts")).authenticationBench(),
  },
  webhookFaults: {
    flags: "--webhook-faults [fault]",
    description: "other requests while a webhook fails",
    run: async (fault: string | true) => (await import("./webhook-faults.ts")).webhookFaultsBench(textOf(fault)),
  },
  admission: {
    flags: "--admission [case]",
    description: "policies, webhooks and plugins",
    run: async (name: string | true) => (await import("./admission.ts")).admissionBench(textOf(name)),
  },
  audit: {
    flags: "--audit",
    description: "auditing",
    run: async () => (await import("./audit.ts")).auditBench(),
  },
  fairness: {
    flags: "--fairness",
    description: "other users during a flood of lists",
    run: async () => (await import("./fairness.ts")).fairnessBench(),
  },
  flowControl: {
    flags: "--flow-control",
    description: "CPU time of flow control",
    run: async () => (await import("./flow-control-cost.ts")).flowControlCostBench(),
  },
  backup: {
    flags: "--backup <objects>",
    description: "creates during a backup",
    parse: parseCount,
    run: async (objects: number) => (await import("./backup.ts")).backupBench(objects),
  },
  etcd: {
    flags: "--etcd",
    description: "compared with upstream's sample API server on one etcd (--objects, --memory, --profile)",
    run: async (_: true, { objects, memory, profile }: Options) =>
      (await import("./etcd.ts")).etcdBench({ objects, memory, profile }),
  },
  upstream: {
    flags: "--upstream",
    description: "compared with kube-apiserver and etcd, for each kind of request (--objects)",
    run: async (_: true, { objects }: Options) => (await import("./upstream.ts")).upstreamBench(objects),
  },
  compare: {
    flags: "--compare <base>",
    description: "which costs differ from those of a Git revision, with their noise (--objects, --pairs)",
    run: async (base: string, { objects, pairs }: Options) =>
      (await import("./compare.ts")).compareBench(base, { objects, pairs }),
  },
  experiment: {
    flags: "--experiment <name>",
    description: "an experiment that others have published, also with kube-apiserver (--objects)",
    run: async (name: string, { objects }: Options) =>
      (await import("./experiments.ts")).experimentBench(name, objects),
  },
  bill: {
    flags: "--bill <request>",
    description:
      "where the CPU time of one request goes: create, get, update, patch, apply or delete (--objects, --profile)",
    parse: parseRequestName,
    run: async (kind: RequestName, { objects, profile: folder }: Options) =>
      (await import("./bill.ts")).billBench(kind, { objects, ...(folder !== undefined && { folder }) }),
  },
  large: {
    flags: "--large [kind]",
    description: "how long large requests hold the event loop",
    run: async (only: string | true) => (await import("./large-requests.ts")).largeRequestsBench(textOf(only)),
  },
  start: {
    flags: "--start",
    description: "the start of the command, and of servers in one process",
    run: async () => (await import("./start.ts")).startBench(),
  },
};

/** With fewer pairs, hardly any difference is beyond the noise. */
const pairsMin = 5;

const program = new Command("npm run bench --")
  .description(
    "Measures the CPU time of the server for each kind of request, compared with a bare HTTP/2 server and with LMDB, or one of the following.",
  )
  .option("--objects <count>", "the number of objects of the requests", parseCount, 5000)
  .option("--memory <objects>", "with --etcd: also the memory with so many objects", parseCount, 0)
  .option("--pairs <count>", "with --compare: how often each of both is measured", parsePairs, 8)
  .option("--profile <folder>", "with --etcd or --bill: writes CPU profiles");
for (const { flags, description, parse } of Object.values(benches)) {
  if (parse === undefined) program.option(flags, description);
  else program.option(flags, description, parse);
}
program.parse();
const options = program.opts<Options>();
const chosen = Object.entries(benches).filter(([name]) => options[name] !== undefined);
if (chosen.length > 1)
  program.error(`error: only one of ${chosen.map(([, { flags }]) => flags.split(" ")[0]).join(", ")}`, { exitCode: 2 });
const [name, bench] = chosen[0] ?? [];
if (name === undefined || bench === undefined) await (await import("./requests.ts")).requestsBench(options.objects);
else await bench.run(options[name] as never, options);
process.exit();

/** @throws InvalidArgumentError if that kind of request has no bill */
function parseRequestName(text: string): RequestName {
  const name = requestNames.find((one) => one === text);
  if (name === undefined) throw new InvalidArgumentError(`It must be one of ${requestNames.join(", ")}.`);
  return name;
}

/** @throws InvalidArgumentError if hardly any difference would be beyond the noise */
function parsePairs(text: string): number {
  const pairs = parseCount(text);
  if (pairs < pairsMin) throw new InvalidArgumentError(`must be at least ${pairsMin}`);
  return pairs;
}

/** The text of an option whose value may be missing. */
function textOf(value: string | true): string {
  return value === true ? "" : value;
}
