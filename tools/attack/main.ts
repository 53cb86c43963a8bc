/**
 * `npm run attack`: attacks a server, and fails if an attack uses more CPU time than its bound, blocks the server for
 * other clients, or ends it.
 */
import { Command, InvalidArgumentError } from "commander";
import { allAttacks } from "./all-attacks.ts";
import { startOwnServer } from "./own-server.ts";
import { type Result, runAttacks } from "./run-attacks.ts";
import { openTarget } from "./target.ts";

interface Options {
  readonly kubeconfig?: string;
  readonly attack: string;
  readonly runs: number;
  readonly divisor: number;
  readonly tolerance: number;
  readonly list?: true;
}

const program = new Command("npm run attack --")
  .description(
    "Attacks a server of your own: an attack that succeeds ends or occupies it. Webhooks and kubelets of the attacks run on this machine, which the server must reach.",
  )
  .option("--kubeconfig <file>", "of an administrator of the server; without it, a server is started from the sources")
  .option("--attack <text>", "runs only attacks whose group and name have the text", "")
  .option("--runs <count>", "runs of each attack, of which the fastest counts", parseNumber, 5)
  .option("--divisor <number>", "divides the sizes of the attacks", parseNumber, 1)
  .option("--tolerance <factor>", "multiplies the bounds, for a busy machine", parseNumber, 1)
  .option("--list", "prints the attacks and runs none");
program.parse();
const values = program.opts<Options>();
const attacks = allAttacks.filter(({ group, name }) => `${group}: ${name}`.includes(values.attack));
if (values.list) {
  for (const { group, name } of attacks) console.log(`${group}: ${name}`);
  process.exit();
}
const results: Result[] = [];
// A server of its own that has ended is replaced; another one is not attacked any more.
do {
  const before = results.length;
  const own = values.kubeconfig === undefined ? await startOwnServer() : undefined;
  const target = await openTarget(values.kubeconfig ?? (own?.kubeconfig as string));
  try {
    const options = {
      runs: values.runs,
      divisor: values.divisor,
      cpuTolerance: values.tolerance,
      stallTolerance: values.tolerance,
      report: (result: Result) => console.log(line(result)),
    };
    results.push(...(await runAttacks(target, attacks.slice(before), options)));
    if (own?.ended()) console.log(`The server has ended:\n${own.output()}`);
  } finally {
    target.close();
    await own?.close();
  }
} while (values.kubeconfig === undefined && results.length < attacks.length);
const failed = results.filter(({ problem }) => problem !== undefined).length;
console.log(`${results.length} of ${attacks.length} attacks, ${failed} succeeded`);
if (failed > 0 || results.length < attacks.length) process.exitCode = 1;

function line({ attack, size, bytes, answer, cpuMs, cpuMsMax, stallMs, problem }: Result): string {
  const cost = `${cpuMs.toFixed(1)} of ${cpuMsMax.toFixed(0)} ms, stall ${stallMs.toFixed(0)} ms`;
  const verdict = problem === undefined ? "ok  " : "FAIL";
  return `${verdict} ${attack.group}: ${attack.name} (${size}): ${bytes} bytes, ${answer}: ${cost}${problem === undefined ? "" : `: ${problem}`}`;
}

function parseNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === "" || !(number > 0) || !Number.isFinite(number))
    throw new InvalidArgumentError("is not a number above 0");
  return number;
}
