/** Runs packages of upstream's integration tests against the server under test, each over an etcd of its own. */
import { spawn } from "node:child_process";
import { createWriteStream, mkdirSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { etcdProgram, startEtcd } from "../../../test/support/etcd.ts";
import { compiled, main } from "../../../test/support/program.ts";
import { type Comparison, compareWithExceptions } from "../exceptions.ts";
import { readExceptions } from "./exceptions.ts";
import { buildPackage, type TestedServer, type TestModule } from "./packages.ts";
import { readResults, type TestResult } from "./test-output.ts";

export interface RunOptions {
  readonly server: TestedServer;
  /** A regular expression of Go for the names of tests; all without one. */
  readonly test?: string | undefined;
  /** The command of the server under test and its first arguments; the sources of this repository by default. */
  readonly command?: readonly string[] | undefined;
}

export interface PackageRun extends Comparison {
  readonly name: string;
  readonly results: readonly TestResult[];
  /** The file with all output. */
  readonly log: string;
}

const timeoutMinutes = 40;

/** @param name of the package below test/integration */
export async function runPackage(module: TestModule, name: string, options: RunOptions): Promise<PackageRun> {
  const program = buildPackage(module, name);
  const logs = join(module.directory, "logs");
  mkdirSync(logs, { recursive: true });
  const log = join(logs, `${name.replaceAll("/", "_")}.log`);
  const etcd = await startEtcd();
  try {
    await runProgram(program, {
      args: [
        "-test.v",
        `-test.timeout=${timeoutMinutes}m`,
        ...(options.test === undefined ? [] : [`-test.run=${options.test}`]),
      ],
      directory: join(module.sources, "test/integration", name),
      environment: environmentOf(etcd.urls[0] as string, options),
      log,
    });
  } finally {
    await etcd.close();
  }
  const results = readResults(readFileSync(log, "utf8"));
  const listed = options.server === "coxswain" ? (readExceptions()[name] ?? []) : [];
  return { name, results, log, ...compareWithExceptions(results, listed) };
}

/** The tests' kube-apiserver runs no controllers of kube-controller-manager, and neither does the server under test. */
function environmentOf(etcdUrl: string, { command }: RunOptions): NodeJS.ProcessEnv {
  return {
    ...process.env,
    PATH: `${dirname(etcdProgram as string)}${delimiter}${process.env.PATH}`,
    KUBE_INTEGRATION_ETCD_URL: etcdUrl,
    COXSWAIN_UNDER_TEST: JSON.stringify(command ?? [process.execPath, main, "serve"]),
    COXSWAIN_UNDER_TEST_FLAGS: JSON.stringify(["--controllers="]),
    NODE_COMPILE_CACHE: compiled,
  };
}

interface ProgramOptions {
  readonly args: readonly string[];
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly log: string;
}

async function runProgram(program: string, { args, directory, environment, log }: ProgramOptions): Promise<void> {
  const child = spawn(program, args, { cwd: directory, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const file = createWriteStream(log);
  child.stderr.pipe(file, { end: false });
  await pipeline(child.stdout, file);
}
