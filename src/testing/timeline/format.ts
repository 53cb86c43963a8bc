/** Writes entries of the timeline for a terminal. */
import { printable } from "../../lib/json/printable.ts";
import type { ChangedField, TimelineChange, TimelineEntry, TimelineRequest } from "./contract.ts";

/**
 * Formats an entry as a line, and indented lines for changes; each ends with a newline. Clients
 * choose many of the texts, so control characters are escaped.
 */
export function formatEntry(entry: TimelineEntry): string {
  const time = new Date(entry.at).toISOString().slice(11, 23);
  const lines = (): string[] => {
    switch (entry.kind) {
      case "request":
        return [requestLine(entry), ...entry.changes.flatMap(changeLines), ...moreLine(entry.moreChanges, "objects")];
      case "server":
        return ["the server itself", ...changeLines(entry.change)];
      case "fault":
        return [`fault ${entry.rule} ${entry.action}: ${entry.text}`];
      case "clock":
        return [`the clock is ${entry.text}`];
    }
  };
  return lines()
    .map((line, index) => `${index === 0 ? time : "   "} ${printable(line)}\n`)
    .join("");
}

function requestLine(request: TimelineRequest): string {
  const { verb, userAgent, user, durationMs, events, dryRun, fault } = request;
  const parts = [
    verb.padEnd(6),
    targetOf(request),
    ...(dryRun ? ["(dry run)"] : []),
    `→ ${resultOf(request)}`,
    ...(events === undefined ? [] : [`${events} events`]),
    durationMs === undefined ? "(open)" : `${durationMs} ms`,
    ...(fault === undefined ? [] : [`[fault ${fault}]`]),
    `· ${user || "(not authenticated)"} · ${userAgent || "(no user agent)"}`,
  ];
  return parts.join(" ");
}

/** Such as `deployments.apps/status shop/web`, or the path. */
function targetOf(request: TimelineRequest): string {
  const { path, group, resource, subresource, namespace, name, fieldSelector, labelSelector } = request;
  if (resource === "") return path;
  const full = `${resource}${group === "" ? "" : `.${group}`}${subresource === "" ? "" : `/${subresource}`}`;
  const isNamespace = resource === "namespaces" && group === "";
  const object = [isNamespace ? "" : namespace, name].filter((part) => part !== "").join("/");
  const selectors = [
    ...(fieldSelector === "" ? [] : [`fields ${fieldSelector}`]),
    ...(labelSelector === "" ? [] : [`labels ${labelSelector}`]),
  ];
  return [full, object, ...(selectors.length === 0 ? [] : [`(${selectors.join(", ")})`])]
    .filter((part) => part !== "")
    .join(" ");
}

function resultOf({ code, reason, message, durationMs }: TimelineRequest): string {
  if (code === 0) return durationMs === undefined ? "no answer yet" : "connection closed without an answer";
  return [String(code), ...(reason === "" ? [] : [reason]), ...(message === "" ? [] : [`(${message})`])].join(" ");
}

const signs = { created: "+", updated: "~", deleted: "-" } as const;

function changeLines({ action, apiVersion, kind, namespace, name, fields, moreFields }: TimelineChange): string[] {
  const object = [...(namespace === "" ? [] : [namespace]), name].join("/");
  return [
    `${signs[action]} ${kind} (${apiVersion}) ${object}`,
    ...fields.map((field) => `    ${fieldText(field)}`),
    ...moreLine(moreFields, "fields").map((line) => `  ${line}`),
  ];
}

function fieldText({ path, before, after }: ChangedField): string {
  if (before === undefined) return `${path}: added ${after}`;
  if (after === undefined) return `${path}: removed ${before}`;
  return `${path}: ${before} → ${after}`;
}

function moreLine(count: number, what: string): string[] {
  return count === 0 ? [] : [`  … and ${count} more ${what}`];
}
