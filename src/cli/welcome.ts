/** What a starting server prints for the person, or the program, that started it. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { RunningServer, ServerOptions } from "../server/options.ts";
import { colored } from "./colors.ts";
import { versionText } from "./version.ts";

interface Colors {
  readonly isColored: boolean;
}

/** Programs read these lines. */
export function welcome({ url, kubeconfigFile }: Pick<RunningServer, "url" | "kubeconfigFile">): string {
  if (kubeconfigFile === undefined) return `Serving ${url}\n`;
  return `Serving ${url}\nkubeconfig: ${kubeconfigFile}\nNext: kubectl --kubeconfig ${shellQuote(kubeconfigFile)} get namespaces\n`;
}

/** The line on a terminal before the start, which takes longest when there are no keys yet. */
export function starting({ dataDir }: Partial<ServerOptions>): string {
  const isFirst = dataDir !== undefined && !existsSync(join(dataDir, "ca.crt"));
  return isFirst ? `Generating keys and certificates in ${resolve(dataDir)}, and starting …\n` : "Starting …\n";
}

/** Lines on a terminal before {@link welcome}: what runs, where its data is, what does not run, and how to stop it. */
export function welcomeDetails(server: Partial<ServerOptions>, { isColored }: Colors): string {
  const lines: readonly (readonly [label: string, text: string])[] = [
    ["Version", versionText()],
    ["Data", dataOf(server)],
    ["Pods", "nothing runs them here, and nothing makes them for a Deployment (docs/nothing-runs.md)"],
    ["Stop", `Ctrl-C, or kill ${process.pid}`],
  ];
  return lines.map(([label, text]) => `${colored(`${label}:`, "bold", isColored)} ${text}\n`).join("");
}

function dataOf({ storage, dataDir }: Partial<ServerOptions>): string {
  const directory = resolve(dataDir ?? ".");
  if (storage === "memory") return `in memory, lost when the server stops; certificates in ${directory}`;
  if (storage === "etcd") return `in etcd (--etcd-servers); certificates in ${directory}`;
  return `in ${directory}, kept for the next start`;
}

/** Quotes a text so that a shell reads it as one word. */
function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
