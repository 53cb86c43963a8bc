import { formatDuration } from "../../lib/duration/duration.ts";
import { printable } from "../../lib/json/printable.ts";
import { colored } from "../colors.ts";
import type { Status } from "./read-status.ts";

interface Colors {
  readonly isColored: boolean;
}

/** Formats a status for a terminal. Resources without objects are only counted. */
export function formatStatus(status: Status, { isColored }: Colors): string {
  const { objects, forbidden, groupVersions } = status;
  const empty = objects.filter(({ count }) => count === 0).length;
  const lines: [label: string, text: string][] = [
    ["Server", status.server],
    ["Version", `${printable(status.version)} ${printable(status.platform)}`],
    ["Ready", readiness(status, { isColored })],
    ...uptimeLine(status),
    ...listLine("Storage", status.storage === undefined ? undefined : [status.storage]),
    ...listLine("Addresses", status.addresses),
    ...listLine(
      "Servers",
      status.servers?.map((one) => held(`${one.identity} (${one.hostname})`, one.isCurrent)),
    ),
    ...listLine(
      "Leases",
      status.leases?.map((one) => held(`${one.name}: ${one.holder}`, one.isCurrent)),
    ),
    ...podsLine(status),
    ["Serves", groupVersions.map(printable).join(", ")],
    ["Objects", `${objects.reduce((sum, { count }) => sum + count, 0)}, and ${empty} resources without any`],
  ];
  const width = Math.max(...objects.map(({ count }) => String(count).length));
  return [
    ...lines.map(
      ([label, text]) => `${colored(`${label}:`, "bold", isColored)}${" ".repeat(11 - label.length)}${text}`,
    ),
    ...objects
      .filter(({ count }) => count > 0)
      .map(({ resource, count }) => `  ${String(count).padStart(width)}  ${printable(resource)}`),
    ...(forbidden.length === 0 ? [] : [`Not allowed to read: ${forbidden.map(printable).join(", ")}`]),
    "",
  ].join("\n");
}

function readiness({ ready, failingChecks }: Status, { isColored }: Colors): string {
  if (ready) return colored("yes", "green", isColored);
  const failing = failingChecks.length === 0 ? "" : `, failing checks: ${failingChecks.map(printable).join(", ")}`;
  return `${colored("no", "red", isColored)}${failing}`;
}

function uptimeLine({ uptimeSeconds }: Status): [string, string][] {
  return uptimeSeconds === undefined ? [] : [["Uptime", formatDuration(BigInt(uptimeSeconds) * 1_000_000_000n)]];
}

function podsLine({ runningNodes }: Status): [string, string][] {
  if (runningNodes === undefined) return [];
  if (runningNodes > 0) return [["Pods", `run on ${runningNodes} ${runningNodes === 1 ? "node" : "nodes"}`]];
  return [["Pods", "nothing runs them: no kubelet has renewed the Lease of a node (docs/nothing-runs.md)"]];
}

function listLine(label: string, texts: readonly string[] | undefined): [string, string][] {
  return texts === undefined || texts.length === 0 ? [] : [[label, texts.map(printable).join(", ")]];
}

const held = (text: string, isCurrent: boolean): string => (isCurrent ? text : `${text}, expired`);
