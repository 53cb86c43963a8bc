/** The flags of kube-apiserver, as its program has them. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

export interface UpstreamFlag {
  readonly group: string;
  readonly name: string;
  readonly type: string;
  readonly default: string;
  readonly deprecated?: string;
}

const file = join(import.meta.dirname, "../../src/cli/testdata/kube-apiserver-flags.jsonl");

export function kubeApiserverFlags(): UpstreamFlag[] {
  const lines = readFileSync(file, "utf8").trim().split("\n");
  return lines.map((line) => JSON.parse(line));
}

/** The default as a value of the flag; undefined without one. */
export function upstreamDefault({ default: text }: UpstreamFlag): string | undefined {
  const value = text.replace(/^\[(.*)\]$/, "$1");
  return value === "" || value === "<nil>" ? undefined : value;
}
