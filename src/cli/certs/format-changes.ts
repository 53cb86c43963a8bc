import { join } from "node:path";
import type { OutputFormat } from "../subcommands.ts";
import type { Directory } from "./directory.ts";

interface Notes {
  /** Whether the flags that name the files follow. */
  readonly showsFlags: boolean;
  /** Whether servers must start again to read the files. */
  readonly restarts: boolean;
}

/** Formats which files were written, and what to do with them. */
export function formatChanges(
  { path, changes }: Pick<Directory, "path" | "changes">,
  output: OutputFormat,
  { showsFlags, restarts }: Notes,
): string {
  if (output === "json") return `${JSON.stringify({ directory: path, changes, restart: restarts }, undefined, 2)}\n`;
  if (changes.length === 0) return "Nothing had to be renewed.\n";
  const lines = changes.map(({ file, change }) => `${join(path, file)}: ${change}`);
  const change = new Map(changes.map((one) => [one.file, one.change]));
  const isNew = change.get("etcd-ca.key") === "created";
  const etcd = isNew ? etcdLines(path) : change.has("etcd-ca.crt") ? etcdSteps : [];
  return [...lines, ...(showsFlags ? flagLines(path) : nextSteps(restarts)), ...etcd, ""].join("\n");
}

function nextSteps(restarts: boolean): string[] {
  const read = restarts
    ? "They read ca.crt, front-proxy-ca.crt and certificates again by themselves, and sa.key and sa.pub at their start: restart one after the other."
    : "They read the files again by themselves.";
  return ["", `Copy the files to all servers. ${read}`];
}

const etcdSteps = ["Members of etcd read etcd-ca.crt at their start: restart one after the other."];

function etcdLines(path: string): string[] {
  const file = (name: string): string => join(path, name);
  return [
    "",
    "Copy etcd-ca.crt, etcd-server.* and etcd-peer.* to all members of etcd, and start each with these flags:",
    `  --cert-file ${file("etcd-server.crt")} --key-file ${file("etcd-server.key")}`,
    `  --trusted-ca-file ${file("etcd-ca.crt")} --client-cert-auth`,
    `  --peer-cert-file ${file("etcd-peer.crt")} --peer-key-file ${file("etcd-peer.key")}`,
    `  --peer-trusted-ca-file ${file("etcd-ca.crt")} --peer-client-cert-auth`,
    "Copy etcd-ca.crt and apiserver-etcd-client.* to all servers, and start each with these flags:",
    `  --etcd-cafile ${file("etcd-ca.crt")}`,
    `  --etcd-certfile ${file("apiserver-etcd-client.crt")} --etcd-keyfile ${file("apiserver-etcd-client.key")}`,
  ];
}

function flagLines(path: string): string[] {
  const file = (name: string): string => join(path, name);
  return [
    "",
    "Copy the files to all servers, except ca.key, front-proxy-ca.key, admin.* and those of etcd, and start each with these flags:",
    `  --client-ca-file ${file("ca.crt")}`,
    `  --tls-cert-file ${file("apiserver.crt")} --tls-private-key-file ${file("apiserver.key")}`,
    `  --service-account-signing-key-file ${file("sa.key")} --service-account-key-file ${file("sa.pub")}`,
    `  --requestheader-client-ca-file ${file("front-proxy-ca.crt")} --requestheader-allowed-names front-proxy-client`,
    `  --proxy-client-cert-file ${file("front-proxy-client.crt")} --proxy-client-key-file ${file("front-proxy-client.key")}`,
    `The administrator's kubeconfig is ${file("admin.kubeconfig")}.`,
  ];
}
