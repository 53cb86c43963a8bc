/** `npm run differential`: sends random requests to this server and to a kube-apiserver, and compares the answers. */
import { readFileSync, writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { startKubeApiserver } from "../../test/support/kube-apiserver.ts";
import { parseCount } from "../../test/support/parse-count.ts";
import { allAreas, makeSequence } from "./all-areas.ts";
import { readKnownDifferences } from "./causes.ts";
import { openConnection } from "./connection.ts";
import type { Area, Sequence } from "./contract.ts";
import { keepParameters } from "./keep-parameters.ts";
import { plantIn } from "./plant.ts";
import { causeText, reportOf, summary } from "./report.ts";
import { run } from "./run.ts";
import { exchange, findDifference, type Servers } from "./sequence-run.ts";
import { runningServer, type StartedServer, sharedFlags, startCoxswain } from "./servers.ts";
import { newState, readState, type State, writeState } from "./state.ts";
import { startWebhook } from "./webhook.ts";

interface Options {
  readonly seed: number;
  readonly requests: number;
  readonly area?: readonly string[];
  readonly jobs: number;
  readonly kube?: string;
  readonly coxswain?: string;
  readonly serverFlag: readonly string[];
  readonly resume?: string;
  readonly report?: string;
  readonly sequence?: string;
  readonly repeat?: string;
  readonly plant?: string;
  readonly shrink: number;
}

const names = allAreas.map(({ name }) => name);
const program = new Command("npm run differential --")
  .description(
    "Sends random requests to this server and to kube-apiserver, and compares the answers. Exits with 1 when they differ for a cause that known-causes.json does not have.",
  )
  .option("--seed <number>", "of all random choices", parseCount, 1)
  .option("--requests <count>", "how many are compared", parseCount, 20_000)
  .addOption(new Option("--area <names...>", "only these areas").choices(names))
  .option("--jobs <count>", "sequences at the same time", parseCount, 8)
  .option(
    "--kube <kubeconfig>",
    "of an administrator of a running kube-apiserver; without it, the one that `npm run upstream` has built is started",
  )
  .option("--coxswain <kubeconfig>", "of a running Coxswain; without it, one is started from the sources")
  .option(
    "--server-flag <flag>",
    "one more flag of the servers that are started, such as --server-flag=--emulated-version=1.34; may be repeated",
    (flag: string, flags: readonly string[]) => [...flags, flag],
    [],
  )
  .option("--resume <file>", "keeps the progress, and continues it")
  .option("--report <file>", "writes the causes as JSON")
  .option("--sequence <area:index>", "runs this sequence only, and prints it")
  .option("--repeat <file>", "runs a sequence of a report, as JSON")
  .addOption(new Option("--plant <area>", "changes answers of ours in this area, which must be found").choices(names))
  .option("--shrink <tries>", "runs of smaller sequences for each new cause", parseCount, 80)
  .parse();
const options = program.opts<Options>();
const started: StartedServer[] = [];
process.exitCode = await main();

async function main(): Promise<number> {
  try {
    const webhook = await startWebhook();
    const servers = { ...(await openServers()), webhook };
    try {
      const one = chosenSequence();
      return await (one === undefined ? runAll(servers) : runOnly(servers, one));
    } finally {
      servers.ours.close();
      servers.theirs.close();
      await webhook.close();
    }
  } finally {
    for (const server of started) await server.close();
  }
}

async function openServers(): Promise<Servers> {
  const flags = [...sharedFlags, ...options.serverFlag];
  started.push(options.kube === undefined ? await startKubeApiserver({ flags }) : runningServer(options.kube));
  started.push(options.coxswain === undefined ? await startCoxswain(flags) : runningServer(options.coxswain));
  const [theirs, ours] = started.map(({ kubeconfig }) => openConnection(kubeconfig)) as [
    Servers["theirs"],
    Servers["ours"],
  ];
  for (const connection of [ours, theirs]) await keepParameters(connection);
  return { ours, theirs };
}

function chosenSequence(): Sequence | undefined {
  if (options.repeat !== undefined) return JSON.parse(readFileSync(options.repeat, "utf8"));
  if (options.sequence === undefined) return undefined;
  const [name, index] = options.sequence.split(":");
  return makeSequence(areaOf(name), options.seed, Number(index));
}

function areaOf(name: string | undefined): Area {
  const found = allAreas.find((area) => area.name === name);
  if (found === undefined) throw new Error(`there is no area ${name}`);
  return found;
}

async function runOnly(servers: Servers, sequence: Sequence): Promise<number> {
  const namespace = `d-${process.pid}-${Date.now().toString(36)}`;
  for (const step of sequence.steps) console.log(JSON.stringify(step));
  const pairs = await exchange(servers, sequence, namespace);
  const difference = findDifference(areaOf(sequence.area), pairs);
  console.log(`${pairs.length} requests`);
  if (difference === undefined) return 0;
  const { step, what, ours, theirs, cause } = difference;
  console.log(`step ${step}: ${what}\nours:   ${JSON.stringify(ours)}\ntheirs: ${JSON.stringify(theirs)}\n${cause}`);
  return 1;
}

async function runAll(servers: Servers): Promise<number> {
  const { seed, resume, requests, jobs, plant } = options;
  const state = resume === undefined ? newState(seed) : readState(resume, seed);
  const chosen = plant === undefined ? (options.area ?? names) : [plant];
  const progress = progressOf(state);
  await run(servers, state, {
    areas: chosen.map(areaOf),
    requests,
    jobs,
    known: readKnownDifferences(),
    shrinkTries: options.shrink,
    ...(plant !== undefined && { plant: plantIn(areaOf(plant), names.indexOf(plant)) }),
    onProgress: progress,
    onCause: (found) => console.log(causeText(found)),
  });
  save(state);
  console.log(`\n${reportOf(state)}`);
  return state.causes.some(({ reason }) => reason === undefined) ? 1 : 0;
}

function progressOf(state: State): () => void {
  const startedAt = performance.now() - 1000 * state.seconds;
  let shownAt = performance.now();
  return () => {
    state.seconds = (performance.now() - startedAt) / 1000;
    if (performance.now() < shownAt + 5000) return;
    shownAt = performance.now();
    save(state);
    if (process.stderr.isTTY) process.stderr.write(`\r${summary(state)}`);
  };
}

function save(state: State): void {
  if (options.resume !== undefined) writeState(options.resume, state);
  if (options.report !== undefined) writeFileSync(options.report, JSON.stringify(state.causes, undefined, 1));
}
