/**
 * The flags of the kube-apiserver that records a family: `npm run golden admission -- flags DIRECTORY FAMILY` writes the files that they name
 * into the directory, and prints the flags, one per line.
 */
import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { RecordedPlugins } from "../../../../test/support/admission-golden.ts";
import { auditPolicy, otherPlugins, writeConfiguration } from "../../../../test/support/admission-replay.ts";
import { families } from "./families/index.ts";
import { webhookUrl } from "./webhook-url.ts";

const [directory, name] = process.argv.slice(2);
const family = name === undefined ? undefined : families[name];
if (directory === undefined || family === undefined) throw new Error("usage: flags.ts DIRECTORY FAMILY");
console.log(flagsOf(family.plugins ?? { disable: otherPlugins }, resolve(directory)).join("\n"));

function flagsOf(plugins: RecordedPlugins, directory: string): readonly string[] {
  const { enable = [], disable = [], featureGates = "", runtimeConfig = "" } = plugins;
  const { configurations = {}, webhookPath = "" } = plugins;
  const write = (file: string, content: object): string => {
    const path = join(directory, file);
    writeFileSync(path, JSON.stringify(content));
    return path;
  };
  const configurationFile = (): string => writeConfiguration(directory, configurations, webhookUrl(webhookPath));
  return [
    `--audit-policy-file=${write("audit-policy.json", auditPolicy)}`,
    `--audit-log-path=${join(directory, "audit.log")}`,
    "--allow-privileged=true", // As this server.
    ...(enable.length > 0 ? [`--enable-admission-plugins=${enable.join(",")}`] : []),
    ...(disable.length > 0 ? [`--disable-admission-plugins=${disable.join(",")}`] : []),
    ...(featureGates === "" ? [] : [`--feature-gates=${featureGates}`]),
    ...(runtimeConfig === "" ? [] : [`--runtime-config=${runtimeConfig}`]),
    ...(Object.keys(configurations).length > 0 ? [`--admission-control-config-file=${configurationFile()}`] : []),
  ];
}
