/** `npm run case-study -- NAME`: a program or a suite of others on this server and on a kube-apiserver, its results compared, and what it costs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Command, Option } from "commander";
import { buildPrograms, studiesDirectory } from "./build.ts";
import { compareRuns } from "./compare.ts";
import type { Run, Study } from "./contract.ts";
import { reportOf } from "./report.ts";
import { buildPackage, type ServerName } from "./servers.ts";
import { runStudy } from "./stage.ts";
import { studies } from "./studies.ts";
import type { Suite } from "./suites/contract.ts";
import { runSuites } from "./suites/main.ts";
import { suites } from "./suites/suites.ts";

const serverNames: readonly ServerName[] = ["coxswain", "kube-apiserver"];
const names = studies.map(({ name }) => name);

const program = new Command("npm run case-study --")
  .description(
    "Runs a program of others with this server and with a kube-apiserver, and compares what it did. Exits with 1 when the results differ.",
  )
  .argument("[studies...]", `of ${names.join(", ")}`)
  .addOption(new Option("--server <name>", "runs with this server only, without a comparison").choices(serverNames))
  .option("--suite <names...>", `runs suites of tests instead: ${suites.map(({ name }) => name).join(", ")}`)
  .option("--build", "builds the programs and runs none")
  .option("--list", "prints the studies and runs none")
  .parse();
const options = program.opts<{ server?: ServerName; suite?: string[]; build?: true; list?: true }>();
if (options.list || (options.suite === undefined && program.args.length === 0)) {
  for (const { name, module, about } of studies) console.log(`${name} (${module}): ${about}`);
  for (const { name, about } of suites) console.log(`--suite ${name}: ${about}`);
} else
  process.exitCode = await runChosen(options.suite).catch((error: Error) => {
    console.error(`error: ${error.message}`);
    return 2;
  });

/** @returns the exit code */
async function runChosen(names: readonly string[] | undefined): Promise<number> {
  if (names === undefined) return runAll(program.args.map(studyOf));
  const chosen = names.map(suiteOf);
  if (options.server !== "kube-apiserver") buildPackage();
  return (await runSuites(chosen, options.server)) ? 1 : 0;
}

function suiteOf(name: string): Suite {
  const found = suites.find((one) => one.name === name);
  return found ?? program.error(`error: there is no suite ${name}: --list prints them`);
}

function studyOf(name: string): Study {
  const found = studies.find((one) => one.name === name);
  return found ?? program.error(`error: there is no study ${name}: --list prints them`);
}

/** @returns the exit code */
async function runAll(chosen: readonly Study[]): Promise<number> {
  for (const study of chosen) buildPrograms(study);
  if (options.build) return 0;
  if (options.server !== "kube-apiserver") buildPackage();
  let differs = false;
  for (const study of chosen) {
    const runs = new Map<ServerName, Run>();
    for (const server of options.server === undefined ? serverNames : [options.server]) {
      const folder = join(studiesDirectory, "runs", study.name);
      mkdirSync(folder, { recursive: true });
      console.log(`Running ${study.name} with ${server} …`);
      const run = await runStudy(study, server, join(folder, `${server}.log`));
      writeFileSync(join(folder, `${server}.json`), JSON.stringify(run, undefined, 2));
      runs.set(server, run);
    }
    console.log(reportOf(study, runs));
    const [ours, theirs] = serverNames.map((name) => runs.get(name));
    if (ours === undefined || theirs === undefined) continue;
    const { differences, writes } = compareRuns(ours, theirs);
    differs ||= differences.length + writes.length > 0;
  }
  return differs ? 1 : 0;
}
