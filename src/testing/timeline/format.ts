/** Writes entries of the timeline for a terminal. */
import { formatGroupResource } from "../../apimachinery/object.ts";
import { printable } from "../../lib/json/printable.ts";
import { condense, type Repeated } from "./condense.ts";
import type { ChangedField, TimelineChange, TimelineEntry, TimelineRequest, TimelineReview } from "./contract.ts";

/**
 * Formats entries: a line for each, and indented lines for changes; each ends with a newline. Requests that are repeated
 * and change nothing are one line.
 */
export function formatEntries(entries: readonly TimelineEntry[]): string {
  const condensed = condense(entries);
  const { omitted } = condensed;
  const lines = condensed.entries.map(formatEntry).join("");
  return omitted === 0 ? lines : `${lines}(${omitted} writes of the server itself to other objects are left out)\n`;
}

/** Clients choose many of the texts, so control characters are escaped. */
function formatEntry(repeated: Repeated): string {
  const { entry } = repeated;
  const lines = (): string[] => {
    switch (entry.kind) {
      case "request":
        return [
          requestLine(entry, repeated),
          ...entry.changes.flatMap(changeLines),
          ...moreLine(entry.moreChanges, "objects"),
        ];
      case "server":
        return ["the server itself", ...changeLines(entry.change)];
      case "fault":
        return [`fault ${entry.rule} ${entry.action}: ${entry.text}`];
      case "review":
        return [reviewLine(entry)];
      case "clock":
        return [`the clock is ${entry.text}`];
    }
  };
  return lines()
    .map((line, index) => `${index === 0 ? timeText(entry.at) : "   "} ${printable(line)}\n`)
    .join("");
}

function reviewLine(review: TimelineReview): string {
  const { type, webhook, configuration, operation, namespace, name, subresource, outcome, message, durationMs } =
    review;
  const object = [namespace, name].filter((part) => part !== "").join("/");
  const resource = `${formatGroupResource(review)}${subresource === "" ? "" : `/${subresource}`}`;
  const target = review.resource === "" ? operation : `${operation} ${resource} ${object}`.trimEnd();
  const result = message === "" ? outcome : `${outcome} (${message})`;
  return `  ${type} webhook ${webhook || configuration}: ${target} → ${result} ${durationMs} ms`;
}

function timeText(at: number): string {
  return new Date(at).toISOString().slice(11, 23);
}

function requestLine(request: TimelineRequest, { times, lastAt, durationMs }: Repeated): string {
  const { verb, userAgent, user, events, dryRun, fault } = request;
  const parts = [
    verb.padEnd(6),
    targetOf(request),
    ...(dryRun ? ["(dry run)"] : []),
    `→ ${resultOf(request)}`,
    ...(events === undefined ? [] : [`${events} events`]),
    ...(isUpdateWithoutChange(request) ? ["(no change)"] : []),
    ...(times === 1 ? [] : [`× ${times} until ${timeText(lastAt)}, up to`]),
    durationMs === undefined ? "(open)" : `${durationMs} ms`,
    ...(fault === undefined ? [] : [`[fault ${fault}]`]),
    `· ${user || "(not authenticated)"} · ${userAgent || "(no user agent)"}`,
  ];
  return parts.join(" ");
}

/** It succeeded, and did not have the effect that its client may expect, such as one of the status to the object itself. */
function isUpdateWithoutChange({ verb, resource, subresource, code, dryRun, changes }: TimelineRequest): boolean {
  const isUpdate = (verb === "update" || verb === "patch") && resource !== "" && subresource !== "proxy";
  return isUpdate && code === 200 && !dryRun && changes.length === 0;
}

/** Such as `deployments.apps/status shop/web`, or the path. */
function targetOf(request: TimelineRequest): string {
  const { path, group, resource, subresource, namespace, name, fieldSelector, labelSelector } = request;
  if (resource === "") return path;
  const full = `${formatGroupResource(request)}${subresource === "" ? "" : `/${subresource}`}`;
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

function resultOf(request: TimelineRequest): string {
  const { code, reason, name, durationMs } = request;
  // The rest of the line says it.
  const message = request.message === `${formatGroupResource(request)} "${name}" not found` ? "" : request.message;
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
