/** Runs the command of a suite with a server, and measures the processes of the server. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { etcdProgram } from "../../../test/support/etcd.ts";
import { cpuMsOf, residentMiB } from "../../../test/support/processes.ts";
import { getUpstreamProgram } from "../../../test/support/upstream-programs.ts";
import { type ServerName, startStudyServer } from "../servers.ts";
import type { Suite, SuiteRun } from "./contract.ts";
import { goOutcomes, junitOutcomes } from "./results.ts";

const main = join(import.meta.dirname, "../../../dist/main.js");
const sampleMs = 300;

/** Which server a suite uses: `fake` is the clientset of its authors. */
export type SuiteServer = ServerName | "fake";

interface Running {
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The ids of the server's processes, as they are now. */
  processes(started: number): number[];
  close(): Promise<void>;
}

/** Runs a suite. @param output a file for what it prints @throws Error when a server does not start */
export async function runSuite(suite: Suite, name: SuiteServer, folder: string, output: string): Promise<SuiteRun> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-suite-"));
  const report = join(directory, "report.xml");
  const running = await open(suite, name, directory, suite.command(folder, report));
  const startedAt = Date.now();
  const [program = "", ...args] = running.command;
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...process.env, TMPDIR: directory, ...suite.environment, ...running.environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const log = createWriteStream(output);
  for (const stream of [child.stdout, child.stderr]) stream.pipe(log, { end: false });
  const sampler = sample(() => running.processes(child.pid as number));
  await once(child, "close");
  const cost = sampler.end();
  const seconds = (Date.now() - startedAt) / 1000;
  await running.close();
  await new Promise<void>((resolve) => log.end(resolve));
  if (suite.format === "junit" && !existsSync(report))
    throw new Error(`the suite ${suite.name} did not run: ${output}`);
  const outcomes =
    suite.format === "go" ? goOutcomes(readFileSync(output, "utf8")) : junitOutcomes(readFileSync(report, "utf8"));
  rmSync(directory, { recursive: true, force: true });
  return { outcomes, seconds, ...cost };
}

async function open(suite: Suite, name: SuiteServer, directory: string, command: readonly string[]): Promise<Running> {
  const none = { environment: {}, processes: () => [], close: async () => {} };
  if (name === "fake") return { ...none, command };
  if (suite.server === "envtest")
    return {
      ...none,
      command,
      environment: { KUBEBUILDER_ASSETS: assets(name, directory) },
      processes: () => startedIn(directory),
    };
  if (name === "coxswain") {
    const words = [process.execPath, main, "test", "--timeline=never", "--", ...command];
    return { ...none, command: words, processes: (started) => [started] };
  }
  const server = await startStudyServer(name);
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, server.admin, { mode: 0o600 });
  return {
    command,
    environment: { KUBECONFIG: kubeconfig },
    processes: () => Object.values(server.processes),
    close: server.close,
  };
}

/** The folder with the programs that envtest starts. */
function assets(name: ServerName, directory: string): string {
  const folder = join(directory, "assets");
  if (name === "coxswain") execFileSync(process.execPath, [main, "envtest", folder]);
  else {
    mkdirSync(folder);
    for (const [program, file] of [
      ["kube-apiserver", getUpstreamProgram("kube-apiserver")],
      ["etcd", etcdProgram],
    ] as const) {
      if (file === undefined) throw new Error(`there is no ${program}: npm run etcd`);
      symlinkSync(file, join(folder, program));
    }
  }
  return folder;
}

/** Servers that envtest has started: their files are in the folder of temporary files. */
function startedIn(directory: string): number[] {
  const ids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return ids
    .filter((id) => /--(?:cert|data)-dir=/.test(commandOf(id)) && commandOf(id).includes(directory))
    .map(Number);
}

/** Empty for a process that has ended. */
function commandOf(id: string): string {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "latin1");
  } catch {
    return "";
  }
}

/** Reads the costs of processes until the end. */
function sample(processes: () => number[]): { end(): Pick<SuiteRun, "cpuSeconds" | "memoryMiB"> } {
  const cpuMs = new Map<number, number>();
  let memoryMiB = 0;
  const read = (): void => {
    let sum = 0;
    for (const id of processes()) {
      try {
        cpuMs.set(id, cpuMsOf(id));
        sum += residentMiB(id, "VmHWM");
      } catch (error) {
        if (!["ENOENT", "ESRCH"].includes((error as NodeJS.ErrnoException).code ?? "")) throw error; // It has ended.
      }
    }
    memoryMiB = Math.max(memoryMiB, sum);
  };
  const timer = setInterval(read, sampleMs);
  return {
    end() {
      clearInterval(timer);
      return { cpuSeconds: [...cpuMs.values()].reduce((all, one) => all + one, 0) / 1000, memoryMiB };
    },
  };
}
