/** Groups differences by their cause. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Difference } from "./compare.ts";
import type { Step } from "./contract.ts";

/** A kind of difference that is known. docs/compatibility/random-requests.md has a row for each. */
export interface KnownDifference {
  readonly what: string;
  readonly kubeApiserver: string;
  readonly here: string;
  /** Regular expressions, one of which matches the text of the cause. */
  readonly causes: readonly string[];
}

/** @returns a text that differences with the same cause share */
export function causeOf(area: string, step: Step, { what, ours, theirs }: Difference): string {
  const texts = [ours, theirs].map((value) => general(typeof value === "string" ? value : describe(value)));
  return [area, requestOf(step), pathWithoutNames(what), ...texts].join(" | ");
}

/** The known differences of this server. */
export function readKnownDifferences(): KnownDifference[] {
  return JSON.parse(readFileSync(join(import.meta.dirname, "known-causes.json"), "utf8"));
}

/** @returns undefined if the cause is not known */
export function findKnown(known: readonly KnownDifference[], cause: string): KnownDifference | undefined {
  return known.find(({ causes }) => causes.some((one) => new RegExp(one).test(cause)));
}

const textMax = 160;

/** Without values, names and numbers, which differ each time. */
function general(text: string): string {
  return text
    .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
    .replace(/\[\d+\]/g, "[]")
    .replace(/\b\d+(?:\.\d+)?\b(?!:)/g, "N")
    .slice(0, textMax);
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return `a list of ${value.length === 0 ? "none" : "some"}`;
  return value !== null && typeof value === "object" ? "an object" : String(value);
}

/** `POST pods/status`; other paths as they are. */
function requestOf({ method, path, headers }: Step): string {
  const [place = ""] = path.split("?");
  const parts = place.split("/").filter((part) => part !== "");
  const content = headers?.["content-type"] ?? "";
  const patch = /(\w+)-patch/.exec(content)?.[1];
  const verb = patch === undefined ? method : `${method} ${patch}`;
  if (parts[0] !== "api" && parts[0] !== "apis") return `${verb} ${place.slice(0, 60)}`;
  const rest = parts.slice(parts[0] === "api" ? 2 : 3);
  const inner =
    rest[0] === "namespaces" && rest.length > 2 && !isNamespacePart(rest[2] as string) ? rest.slice(2) : rest;
  const [resource = "discovery", , subresource] = inner;
  return `${verb} ${resource}${subresource === undefined ? "" : `/${subresource}`}${inner.length === 1 ? " (all)" : ""}`;
}

const isNamespacePart = (part: string): boolean => part === "status" || part === "finalize";

/** Indexes and keys of maps are not part of a cause. */
function pathWithoutNames(what: string): string {
  return what
    .replace(/\.\d+(?=\.|$)/g, "")
    .replace(/\.(?:f|k|v|i):[^.]*/g, ".F")
    .replace(/(\.F)+.*/, ".F")
    .replace(/(\.(?:annotations|labels|data|matchLabels|nodeSelector|requests|limits|hard|used)\.).*/, "$1…")
    .slice(0, textMax);
}
