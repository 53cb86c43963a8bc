/**
 * `npm run attack [-- --kubeconfig FILE] [--attack TEXT] [--runs 3] [--divisor 1] [--tolerance 1]`: attacks a server, and fails if an attack
 * uses more CPU time than its bound, blocks the server for other clients, or ends it. Without a kubeconfig it starts a server from the
 * sources. Run it only against a server of your own: a successful attack ends the server. Webhooks and kubelets of the attacks run on
 * this machine, which the server must reach.
 */
import { parseArgs } from "node:util";
import { allAttacks } from "./all-attacks.ts";
import { startOwnServer } from "./own-server.ts";
import { type Result, runAttacks } from "./run-attacks.ts";
import { openTarget } from "./target.ts";

const { values } = parseArgs({
  options: {
    kubeconfig: { type: "string" },
    attack: { type: "string", default: "" },
    runs: { type: "string", default: "3" },
    divisor: { type: "string", default: "1" },
    tolerance: { type: "string", default: "1" },
  },
});
const attacks = allAttacks.filter(({ group, name }) => `${group}: ${name}`.includes(values.attack));
const results: Result[] = [];
// A server of its own that has ended is replaced; another one is not attacked any more.
do {
  const before = results.length;
  const own = values.kubeconfig === undefined ? await startOwnServer() : undefined;
  const target = await openTarget(values.kubeconfig ?? (own?.kubeconfig as string));
  try {
    const options = {
      runs: Number(values.runs),
      divisor: Number(values.divisor),
      cpuTolerance: Number(values.tolerance),
      stallTolerance: Number(values.tolerance),
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
