/** The path and query of a request, as a recording contains them, and what they say about bodies. */
import { infoOfTarget } from "../../request/request-info.ts";
import { escapeSegment } from "./escape-segment.ts";
import type { Confidential } from "./redact.ts";
import type { Secrets } from "./secrets.ts";

/** A request line. */
export interface Target {
  readonly path: string;
  readonly query: readonly (readonly [name: string, value: string])[];
  readonly confidential: Confidential;
  /** Bodies and streams of arbitrary programs are not recorded: they can hold secrets. */
  readonly isOpaque: boolean;
  readonly isWatch: boolean;
}

const opaqueSubresources: ReadonlySet<string> = new Set(["attach", "exec", "log", "portforward", "proxy"]);

/** @param url path and query as they were sent */
export function readTarget(url: string, secrets: Secrets): Target {
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = [...new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1))];
  const info = infoOfTarget(url);
  if (info === undefined)
    return { path: secrets.placeholderOf(url), query: [], confidential: undefined, isOpaque: true, isWatch: false };
  const isOpaque = info.verb === "proxy" || opaqueSubresources.has(info.subresource);
  const isProxy = info.verb === "proxy" || info.subresource === "proxy";
  return {
    path: isProxy ? proxiedPath(path, secrets) : normalEscapes(path, secrets),
    query: query.map(([name, value]) => {
      const isHidden = isProxy || (info.subresource === "exec" && name === "command");
      return [isProxy ? secrets.placeholderOf(name) : name, isHidden ? secrets.placeholderOf(value) : value] as const;
    }),
    confidential: confidentialOf(info),
    isOpaque,
    isWatch: info.verb === "watch",
  };
}

function confidentialOf({ resource, subresource }: { resource: string; subresource: string }): Confidential {
  if (resource === "secrets") return "secret";
  return resource === "tokenreviews" || subresource === "token" ? "token" : undefined;
}

/** A path behind a proxy belongs to any program, and can hold credentials. */
function proxiedPath(path: string, secrets: Secrets): string {
  const [, before = "", rest = ""] = /^(.*?\/proxy)(\/.*)?$/s.exec(path) ?? [path, path];
  return normalEscapes(before, secrets) + (rest === "" || rest === "/" ? rest : `/${secrets.placeholderOf(rest)}`);
}

/** Segments that are not UTF-8 are replaced: a secret in them could not be found. */
function normalEscapes(path: string, secrets: Secrets): string {
  return path
    .split("/")
    .map((segment) => {
      const text = unescapedOrUndefined(segment);
      return text === undefined ? secrets.placeholderOf(segment) : escapeSegment(text);
    })
    .join("/");
}

function unescapedOrUndefined(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}
