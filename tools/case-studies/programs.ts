/** The programs of a study, as processes whose output is kept. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programOf } from "./build.ts";
import type { Stage, Study } from "./contract.ts";

const logBytesMax = 50_000_000;

export interface Programs {
  readonly kubeconfig: string;
  start: Stage["start"];
  /** The ids of running ones. */
  processes(): Record<string, number>;
  output(): string;
  /** @throws Error with the end of its output when one has ended by itself */
  check(): void;
  end(): Promise<void>;
}

/** @param user the kubeconfig of their user @param directory for their files */
export function openPrograms(study: Study, user: string, directory: string): Programs {
  const kubeconfig = join(directory, "kubeconfig");
  writeFileSync(kubeconfig, user, { mode: 0o600 });
  const running = new Map<string, ChildProcess>();
  let output = "";
  return {
    kubeconfig,
    start(program, args, environment = {}) {
      const home = join(directory, program);
      mkdirSync(home, { recursive: true });
      const child = spawn(programOf(study, program), args, {
        cwd: home,
        env: { PATH: process.env.PATH, HOME: home, TMPDIR: home, KUBECONFIG: kubeconfig, ...environment },
        stdio: ["ignore", "pipe", "pipe"],
      });
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (piece) => {
          output = (output + piece).slice(-logBytesMax);
        });
      running.set(program, child);
    },
    processes: () => Object.fromEntries([...running].map(([name, { pid }]) => [name, pid as number])),
    output: () => output,
    check() {
      for (const [name, { exitCode, signalCode }] of running)
        if (exitCode !== null || signalCode !== null)
          throw new Error(`${name} has ended: ${output.slice(0, 2_000)} … ${output.slice(-2_000)}`);
    },
    async end() {
      for (const [name, child] of running) {
        running.delete(name);
        if (child.exitCode !== null || child.signalCode !== null) continue;
        child.kill("SIGKILL");
        await once(child, "exit");
      }
    },
  };
}
