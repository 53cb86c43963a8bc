/** What a start prints on a terminal. */
import { resolve } from "node:path";
import { colored } from "./colors.ts";
import type { Settings } from "./flags.ts";
import { versionText } from "./version.ts";

/** Lines below the URL of the server: what runs, where its data is, and how to stop it. */
export function welcomeDetails(server: Settings["server"], { isColored }: { readonly isColored: boolean }): string {
  const lines: readonly (readonly [label: string, text: string])[] = [
    ["Version", versionText()],
    ["Data", dataOf(server)],
    ["Stop", `Ctrl-C, or kill ${process.pid}`],
  ];
  return lines.map(([label, text]) => `${colored(`${label}:`, "bold", isColored)} ${text}\n`).join("");
}

function dataOf({ storage, dataDir }: Settings["server"]): string {
  const directory = resolve(dataDir ?? ".");
  if (storage === "memory") return `in memory, lost when the server stops; certificates in ${directory}`;
  if (storage === "etcd") return `in etcd (--etcd-servers); certificates in ${directory}`;
  return `in ${directory}, kept for the next start`;
}
