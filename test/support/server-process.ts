/** Servers as processes of the command, which tests kill and start again. */
import { type ChildProcess, spawn } from "node:child_process";
import http2 from "node:http2";
import { main } from "./program.ts";
import { eventually } from "./until.ts";

export interface ServerProcess {
  readonly output: () => string;
  /** Sends the signal and waits for the end. @returns the exit code; null when the signal ended the process */
  end(signal: "SIGTERM" | "SIGKILL"): Promise<number | null>;
}

interface Command {
  readonly port: number;
  readonly flags: readonly string[];
  /** The authority of its serving certificate. */
  readonly ca: string;
  /** The file of the command; that of the sources by default. */
  readonly program?: string;
}

/** Starts the command and waits until `/readyz` answers 200. @throws Error with its output when it ends before */
export async function startServerProcess({ port, flags, ca, program = main }: Command): Promise<ServerProcess> {
  const args = [program, "--secure-port", String(port), ...flags];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (piece) => {
      output = (output + piece).slice(-20_000);
    });
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await waitUntilReady(child, () => output, { port, ca });
  return {
    output: () => output,
    end(signal) {
      child.kill(signal);
      return exited;
    },
  };
}

async function waitUntilReady(
  child: ChildProcess,
  output: () => string,
  { port, ca }: Pick<Command, "port" | "ca">,
): Promise<void> {
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  await eventually(
    () => `the server is ready: ${output()}`,
    async () => hasEnded() || (output().includes("Serving https://") && (await isReady(port, ca))),
  ).catch((error) => {
    child.kill("SIGKILL");
    throw error;
  });
  if (hasEnded()) throw new Error(`the server ended: ${output()}`);
}

function isReady(port: number, ca: string): Promise<boolean> {
  return new Promise((resolve) => {
    const session = http2.connect(`https://localhost:${port}`, { ca });
    session.on("error", () => resolve(false));
    const stream = session.request({ ":path": "/readyz" });
    stream.on("response", (headers) => resolve(headers[":status"] === 200));
    stream.on("error", () => resolve(false));
    stream.on("close", () => session.destroy());
    stream.resume();
  });
}
