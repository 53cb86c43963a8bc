/**
 * The pages /statusz and /flagz: what runs, and with which flags. As text, or as a kind of `config.k8s.io`.
 * Sources: k8s.io/apiserver@v0.36.0/pkg/server/statusz/statusz.go and flagz/flagz.go; KEP-4827, KEP-4828.
 */
import { formatTime } from "../../apimachinery/clock.ts";
import { type EffectiveVersion, formatRelease } from "../../apimachinery/effective-version.ts";
import { notAcceptable } from "../../apimachinery/errors.ts";
import { apiRelease, versionBody } from "../../apimachinery/release.ts";
import { send } from "../../request/answer.ts";
import type { PathHandler } from "../../request/context.ts";
import type { RequestContext } from "../contract.ts";
import type { Shown } from "../representation/contract.ts";
import { namesOf } from "../representation/negotiate.ts";
import { negotiateDebugPage, untyped } from "../representation/negotiate-debug-page.ts";

const group = "config.k8s.io";
/** The first is the one of text. */
const versions = ["v1beta1", "v1alpha1"];
const component = "apiserver";

interface Page {
  readonly kind: "Statusz" | "Flagz";
  /** The fields of the kind, in their order. */
  fields(): Readonly<Record<string, unknown>>;
  /** The lines of the text. */
  lines(): readonly (readonly [name: string, value: string])[];
}

interface Status {
  /** Milliseconds since 1970. */
  readonly startedAt: number;
  now(): number;
  /** All paths of the server that name no resource. */
  readonly paths: readonly string[];
  readonly version: EffectiveVersion;
}

export function statusHandler({ startedAt, now, paths, version }: Status): PathHandler<RequestContext> {
  const shown = foldersOf(paths);
  const { goVersion } = versionBody() as { goVersion: string };
  const emulationVersion = formatRelease(version.emulated);
  const binaryVersion = `${apiRelease.major}.${apiRelease.minor}.0`;
  const uptimeSeconds = (): number => Math.max(0, Math.floor((now() - startedAt) / 1000));
  return pageHandler({
    kind: "Statusz",
    fields: () => ({
      startTime: formatTime(startedAt),
      uptimeSeconds: uptimeSeconds(),
      goVersion,
      binaryVersion,
      emulationVersion,
      paths: shown,
    }),
    lines: () => [
      ["Started", unixDate(startedAt)],
      ["Up", uptimeText(uptimeSeconds())],
      ["Go version", goVersion],
      ["Binary version", binaryVersion],
      ["Emulation version", emulationVersion],
      ["Paths", shown.join(" ")],
    ],
  });
}

/** @param flags values by name */
export function flagsHandler(flags: Readonly<Record<string, string>>): PathHandler<RequestContext> {
  const sorted = Object.entries(flags).sort(([a], [b]) => (a < b ? -1 : 1));
  return pageHandler({ kind: "Flagz", fields: () => ({ flags: Object.fromEntries(sorted) }), lines: () => sorted });
}

function pageHandler(page: Page): PathHandler<RequestContext> {
  const { kind } = page;
  return (context) => {
    const form = negotiateDebugPage(context, { group, kind, versions, text: () => textOf(page) });
    if (form === undefined) throw notAcceptable([...namesOf(untyped(context.encodings)), "text/plain"]);
    const { encoding, version } = form;
    const shown = shownAs(page, version);
    if (version === undefined) return send(context, 200, "text/plain; charset=utf-8", encoding.whole(shown));
    if (version !== versions[0])
      context.warnings.push(
        `This version of the ${kind.toLowerCase()} endpoint is deprecated. Please use a newer version.`,
      );
    send(context, 200, `${encoding.mediaType};g=${group};v=${version};as=${kind}`, encoding.whole(shown));
  };
}

function shownAs({ kind, fields }: Page, version = ""): Shown {
  const apiVersion = `${group}/${version}`;
  const json = (): Buffer =>
    Buffer.from(JSON.stringify({ kind, apiVersion, metadata: { name: component }, ...fields() }));
  return { apiVersion, kind, json, message: json, schema: undefined };
}

/** kube-apiserver chooses the separator at random, so that no program depends on it. */
function textOf({ kind, lines }: Page): Buffer {
  const head = `\n${component} ${kind.toLowerCase()}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n`;
  const body = lines().map(([name, value]) => `${name}: ${value}\n`);
  return Buffer.from(`${head}${kind === "Statusz" ? "\n" : ""}${body.join("")}`);
}

/** Not those of the API, which discovery lists. */
const apiFolders = ["/apis", "/api", "/openid", "/openapi", "/.well-known"];

function foldersOf(paths: readonly string[]): string[] {
  const folders = paths.flatMap((path) => {
    const [, first = ""] = path.split("/");
    return first === "" || apiFolders.includes(`/${first}`) ? [] : [`/${first}`];
  });
  return [...new Set(folders)].sort();
}

function uptimeText(seconds: number): string {
  const two = (count: number): string => String(count).padStart(2, "0");
  return `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
}

/** `Mon Nov 30 11:25:16 UTC 2026`. Source: Go, time.UnixDate. */
function unixDate(ms: number): string {
  const [day = "", date = "", month, year, time] = new Date(ms).toUTCString().replace(",", "").split(" ");
  return `${day} ${month} ${date.replace(/^0/, " ")} ${time} UTC ${year}`;
}
