/** `npm run upstream`: upstream's own programs and tests as judges. docs/how-to/judge.md describes it for contributors. */
import { Command, InvalidArgumentError, Option } from "commander";
import { type UpstreamProgram, upstreamPrograms } from "../../test/support/upstream-programs.ts";

const program = new Command("npm run upstream --").description(
  "Builds Kubernetes' own programs and tests from Go modules, and runs them beside or against this server.",
);
program
  .command("build")
  .description("builds programs; minutes each for the first time")
  .argument("[programs...]", `of ${upstreamPrograms.join(", ")}; all without one`)
  .action(async (names: UpstreamProgram[]) => {
    const { buildProgram } = await import("./build.ts");
    const unknown = names.find((name) => !upstreamPrograms.includes(name));
    if (unknown !== undefined) program.error(`error: there is no program ${unknown}`);
    for (const name of names.length === 0 ? upstreamPrograms : names) {
      console.log(`Building ${name} …`);
      buildProgram(name);
    }
  });
program
  .command("server")
  .description("runs a kube-apiserver over an etcd until it is interrupted")
  .argument("[flags...]", "more flags of kube-apiserver, after --")
  .option("--port <number>", "its port; a free one by default", parsePort)
  .option("--kubeconfig <file>", "writes the kubeconfig of an administrator to the file", "upstream.kubeconfig")
  .option("--controllers", "runs kube-controller-manager, too")
  .option("--scheduler", "runs kube-scheduler, too")
  .action(async (flags: string[], options) => (await import("./server.ts")).runServer({ ...options, flags }));
program
  .command("integration")
  .description("runs packages of upstream's integration tests against this server")
  .argument("[packages...]", "paths below test/integration, such as apiserver/apply; all without one")
  .option("--test <regexp>", "runs only tests whose names match")
  .option("--server <name>", "coxswain, or upstream: a kube-apiserver, which shows what a failure means", "coxswain")
  .option("--list", "prints the packages and runs none")
  .addOption(new Option("--write", "writes the counts to docs/conformance.md").conflicts("test"))
  .action(async (packages: string[], options) => {
    process.exitCode = await (await import("./integration/main.ts")).runIntegration(packages, options);
  });
program
  .command("conformance")
  .description("runs upstream's conformance tests against this server")
  .option("--server <name>", "coxswain, or upstream: a kube-apiserver", "coxswain")
  .option("--focus <regexp>", "runs only tests whose names match")
  .option("--all", "runs also the tests that need containers")
  .option("--write", "writes the results to docs/conformance.md")
  .action(async (options) => {
    process.exitCode = await (await import("./conformance/main.ts")).runConformance(options);
  });
await program.parseAsync();

function parsePort(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError("is not a port from 1 to 65535");
  return Number(text);
}
