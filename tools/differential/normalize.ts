/**
 * Replaces what differs between two servers that behave alike: times, UIDs, resourceVersions, generated names and tokens.
 * UIDs and resourceVersions are numbered in the order in which a sequence sees them, so that equality stays visible.
 */
import { isObject } from "../../src/lib/json/values.ts";

export interface Normalizer {
  /** Names of objects that are created with these prefixes are replaced from now on. */
  expectGeneratedNames(prefixes: readonly string[]): void;
  /** Texts that requests have are kept in answers. */
  keep(sent: string): void;
  /** @param body as parse-answer.ts returns it */
  normalize(body: unknown): unknown;
  /** A text outside a body, such as a header. */
  text(text: string): string;
}

/** Nothing is replaced in them. */
const onlyLetters = /^[A-Za-z]*$/;
const uid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const time = /\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| \+0000 UTC(?: m=[+-][\d.]+)?)/g;
const token = /\bey[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}/g;
/** Their revisions depend on other writes. */
const continueToken = /\beyJ2Ijoi[\w-]+/g;
const serviceAddress = /\b10\.0\.\d{1,3}\.\d{1,3}\b/g;
const dayMs = 86_400_000;
const yearMs = 366 * dayMs;
/** Groups of custom resources, which sequences that run at the same time define: a name, or a path. */
const sequenceGroup = /^(?:\/apis\/)?d\d+-[a-z0-9]+-\d+\.example\.com/;
/** In YAML, in JSON within a message, and as Go prints it. */
const quotedVersion = /(resourceVersion\\*"?: ?\\*")(\d+)/gi;
/** Of the server itself. */
const certificate = /\bX509SHA256=[0-9a-f]{64}\b/g;
const ownAddress = /\b127\.0\.0\.1:\d{4,5}\b/g;
/** The suffix of generated names. */
const generatedSuffix = "[bcdfghjklmnpqrstvwxz2456789]{5}";
/** Columns of Tables with an age. */
const ageColumns: ReadonlySet<string> = new Set(["age", "last schedule", "last seen", "first seen", "duration"]);
const ageCell = /^(?:<invalid>|(?:\d+[smhdy])+)(?: ago)?$/;
/** A cell of a Table in YAML. */
const yamlAge = /(?<=^ *- )(?:<invalid>|"?\d+[smh]"?)$/gm;
const nodePort = /(\b(?:nodePort|healthCheckNodePort)"?: ?|\d:)3[0-3]\d{3}\b/g;

/** @param now milliseconds since 1970, at the start of the sequence */
export function openNormalizer(now: number): Normalizer {
  const uids = new Map<string, number>();
  const versions = new Map<string, number>();
  const addresses = new Map<string, number>();
  let sent = "";
  let generated = generatedNames([]);
  const number = (known: Map<string, number>, one: string): number => {
    if (!known.has(one)) known.set(one, known.size);
    return known.get(one) as number;
  };
  const text = (value: string): string => {
    if (onlyLetters.test(value)) return value;
    let result = value;
    if (uid.test(value))
      result = result.replace(uid, (one) => (sent.includes(one) ? one : `<uid ${number(uids, one)}>`));
    uid.lastIndex = 0;
    if (value.includes(":")) result = result.replace(time, (one) => normalTime(one, now));
    if (value.includes("ey")) result = result.replace(token, "<token>").replace(continueToken, shownContinue);
    if (value.includes("10.0."))
      result = result.replace(serviceAddress, (one) => (sent.includes(one) ? one : `<ip ${number(addresses, one)}>`));
    if (/resourceVersion/i.test(value))
      result = result.replace(quotedVersion, (all, before, one) => (sent.includes(`"${one}"`) ? all : `${before}<rv>`));
    if (/resource ?version|continue|in scheme|selfType/i.test(value)) result = hideRevisions(result);
    return result
      .replace(generated, "$1<generated>")
      .replace(ownAddress, "<address>")
      .replace(certificate, "<certificate>");
  };
  const walk = (value: unknown, key: string): unknown => {
    if (typeof value === "string") {
      if (key === "resourceVersion" && value.length > 1) return version(value);
      return text(value);
    }
    if (typeof value === "number") return isNodePort(key, value, sent) ? "<port>" : value;
    if (isTreeField(value)) return [value[0], treeValue(value[1], now, (one) => walk(one, key))];
    if (Array.isArray(value)) return value.filter((item) => !isOfSequence(item)).map((item) => walk(item, key));
    return isObject(value) ? walkObject(value) : value;
  };
  const version = (value: string): string => (sent.includes(`"${value}"`) ? value : `<rv ${number(versions, value)}>`);
  const walkObject = (object: Record<string, unknown>): unknown => {
    const result: Record<string, unknown> = {};
    const isList = "items" in object || "rows" in object || String(object.kind).endsWith("List");
    for (const [key, value] of Object.entries(object)) {
      if (key === "metadata" && isObject(value) && (isList || isBookmark(object)))
        result[key] = listMeta(value, (one) => walk(one, key));
      else if (key === "managedFields" && Array.isArray(value)) result[key] = sorted(walk(value, key) as unknown[]);
      else result[text(key)] = walk(value, key);
    }
    if (Array.isArray(object.columnDefinitions) || Array.isArray(object.rows)) hideAges(result);
    return result;
  };
  return {
    expectGeneratedNames(prefixes) {
      generated = generatedNames(prefixes);
    },
    keep: (one) => {
      sent += `${one}\n`;
    },
    normalize: (body) => (typeof body === "string" ? plainText(text(body)) : walk(body, "")),
    text,
  };
}

function isOfSequence(item: unknown): boolean {
  const name = isObject(item) ? (item.name ?? (item.metadata as { name?: unknown } | undefined)?.name) : item;
  return typeof name === "string" && sequenceGroup.test(name);
}

/** @param prefixes of generateName */
function generatedNames(prefixes: readonly string[]): RegExp {
  const all = ["kube-api-access-", ...prefixes].map((prefix) => prefix.slice(0, 58).replace(/[^\w-]/g, "\\$&"));
  return new RegExp(`(${all.join("|")})${generatedSuffix}(?![a-z0-9])`, "g");
}

/** The list's own version depends on other writes. */
function listMeta(meta: Record<string, unknown>, walk: (value: unknown) => unknown): unknown {
  return walk({
    ...meta,
    ...(meta.resourceVersion !== undefined && { resourceVersion: meta.resourceVersion === "" ? "" : "*" }),
  });
}

/** The position of a token; its revision, too, when it is not that of a state. */
function shownContinue(token: string): string {
  try {
    const { rv, start } = JSON.parse(Buffer.from(token, "base64url").toString()) as { rv: number; start: string };
    return `<continue ${rv > 0 ? "" : `${rv} `}after ${JSON.stringify(start)}>`;
  } catch (error) {
    if (error instanceof SyntaxError) return token;
    throw error;
  }
}

function isBookmark({ metadata, ...rest }: Record<string, unknown>): boolean {
  const annotations = (metadata as { annotations?: Record<string, unknown> }).annotations;
  return annotations?.["k8s.io/initial-events-end"] !== undefined && rest.data === undefined;
}

function sorted(list: readonly unknown[]): unknown[] {
  return list
    .map((item) => [JSON.stringify(item), item] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, item]) => item);
}

function normalTime(text: string, now: number): string {
  const distance = Date.parse(text.replace(" ", "T").replace(/ \+0000 UTC.*/, "Z")) - now;
  if (Math.abs(distance) < dayMs) return Math.abs(distance) < 200_000 ? "<now>" : "<today>";
  return Math.abs(distance) < yearMs + dayMs && Math.abs(distance) > yearMs - dayMs ? "<next year>" : text;
}

/** See protobuf-tree.ts. */
function isTreeField(value: unknown): value is [number, unknown] {
  return Array.isArray(value) && value.length === 2 && typeof value[0] === "number";
}

/** Texts of digits are resourceVersions; times are seconds and nanoseconds. */
function treeValue(value: unknown, now: number, walk: (value: unknown) => unknown): unknown {
  if (typeof value === "string") return /^\d{2,19}$/.test(value) ? "<digits>" : walk(value);
  if (typeof value === "number") return Math.abs(value * 1000 - now) < dayMs ? "<now>" : value;
  if (!isTime(value, now)) return walk(value);
  return "<now>";
}

function isTime(value: unknown, now: number): boolean {
  if (!Array.isArray(value) || value.length !== 2) return false;
  const [first, second]: unknown[] = value;
  if (!isTreeField(first) || !isTreeField(second)) return false;
  return first[0] === 1 && second[0] === 2 && Math.abs(Number(first[1]) * 1000 - now) < dayMs;
}

function isNodePort(key: string, value: number, sent: string): boolean {
  return /ort$/.test(key) && value >= 30_000 && value < 34_000 && !sent.includes(String(value));
}

function hideAges(table: Record<string, unknown>): void {
  const columns = (table.columnDefinitions ?? []) as { name?: string; type?: string }[];
  const isAge = columns.map(({ name = "", type }) => ageColumns.has(name.toLowerCase()) || type === "date");
  for (const row of (table.rows ?? []) as { cells?: unknown[] }[])
    row.cells = row.cells?.map((cell, at) => {
      if (typeof cell !== "string") return cell;
      if ((isAge[at] || columns.length === 0) && ageCell.test(cell)) return "<age>";
      return cell.replace(nodePort, "$1<port>");
    });
}

function hideRevisions(message: string): string {
  return message
    .replace(/, current: \d+/g, ", current: <revision>")
    .replace(/resource version: (\d+) \(\d+\)/, "resource version: $1 (<revision>)")
    .replace(/(ResourceVersion in (?:the precondition|record) \()\d+/g, "$1<revision>")
    .replace(/(ResourceVersion in (?:precondition|object meta): )\d+/g, "$1<revision>")
    .replace(/selfType\d+/g, "selfType") // An address in memory.
    .replace(/ in scheme\s+"[^"]*"/g, ' in scheme "…"') // A line of upstream's sources, which depends on its build.
    .replace(/continue parameter is too old.*/, "continue parameter is too old");
}

/** YAML, and messages outside a Status. */
function plainText(text: string): string {
  const isHex = /^(?:[0-9a-f]{2}){20,}$/.test(text);
  return isHex ? "<bytes>" : text.replace(nodePort, "$1<port>").replace(yamlAge, "<age>");
}
