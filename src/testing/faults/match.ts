/** Which requests a rule and a fault match. */
import type { RequestContext } from "../../http/contract.ts";
import { writes } from "../../http/filters/timeout-parameter.ts";
import type { Fault, FaultRule, TextMatch } from "./contract.ts";

/** Whether a request has the properties that a rule names. */
export type RuleMatcher = (context: RequestContext) => boolean;

const credentialId = "authentication.kubernetes.io/credential-id";

/** Compiles the conditions of a rule. */
export function ruleMatcher(rule: FaultRule): RuleMatcher {
  const conditions: RuleMatcher[] = [];
  const add = (match: TextMatch | undefined, of: (context: RequestContext) => readonly string[]): void => {
    if (match === undefined) return;
    const patterns = (typeof match === "string" ? [match] : match).map(textMatcher);
    conditions.push((context) => of(context).some((text) => patterns.some((pattern) => pattern(text))));
  };
  add(rule.user, ({ user }) => [user.name]);
  add(rule.userAgent, ({ exchange }) => [exchange.header("user-agent") ?? ""]);
  add(rule.client, ({ exchange, user }) => [exchange.remote.address, ...(user.extra.get(credentialId) ?? [])]);
  add(rule.verb, ({ info }) => [info.verb]);
  add(rule.resource, ({ info: { isResourceRequest, resource, group } }) =>
    isResourceRequest ? [resource, ...(group === "" ? [] : [`${resource}.${group}`])] : [""],
  );
  add(rule.subresource, ({ info }) => [info.subresource]);
  add(rule.name, ({ info }) => [info.name]);
  add(rule.namespace, ({ info }) => [info.namespace]);
  return (context) => conditions.every((condition) => condition(context));
}

/**
 * Compiles a pattern. The parts between `*` are searched from left to right, so that the time is
 * bounded by the length of the text times that of the pattern.
 */
export function textMatcher(pattern: string): (text: string) => boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    if (!text.startsWith(first) || text.length < first.length + last.length) return false;
    let at = first.length;
    for (const part of rest) {
      const found = text.indexOf(part, at);
      if (found < 0) return false;
      at = found + part.length;
    }
    return text.endsWith(last) && text.length - last.length >= at;
  };
}

const changesOfOne: ReadonlySet<string> = new Set(["update", "patch", "delete"]);

/** What decides whether a fault can apply. */
export interface FaultyRequest {
  readonly info: Pick<RequestContext["info"], "isResourceRequest" | "verb" | "subresource">;
}

/** Whether a fault can apply to a request of this kind. */
export function canApply(fault: Fault, { info }: FaultyRequest): boolean {
  const { isResourceRequest, verb } = info;
  switch (fault.type) {
    case "tooManyRequests":
    case "internalError":
    case "latency":
      return true;
    case "cutConnection":
      return fault.when !== "after" || verb !== "watch";
    case "timeoutBeforeCommit":
      return verb !== "watch";
    case "timeoutAfterCommit":
      return isResourceRequest && writes.has(verb);
    case "conflict":
      return isResourceRequest && changesOfOne.has(verb);
    case "gone":
      return isResourceRequest && (verb === "list" || verb === "watch");
    case "staleRead":
      return isResourceRequest && (verb === "list" || (verb === "get" && info.subresource === ""));
    case "cutWatch":
    case "stallWatch":
    case "missingBookmark":
      return isResourceRequest && verb === "watch";
  }
}
