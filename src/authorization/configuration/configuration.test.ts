import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { formatDuration } from "../../lib/duration/duration.ts";
import { parseAuthorizationConfiguration } from "./configuration.ts";
import type { AuthorizerConfiguration } from "./contract.ts";

/** A file and upstream's result, as recorded by tools/golden/authorization. */
interface Row {
  readonly what: string;
  readonly file: string;
  readonly error?: string;
  readonly config?: { readonly authorizers: readonly unknown[] };
}

/** For a kind of another configuration file, upstream's message names its internal Go type. */
const different = new Set(["another kind"]);

const rows = readFileSync(join(import.meta.dirname, "testdata/files.jsonl"), "utf8")
  .trimEnd()
  .split("\n");

for (const { what, file, error, config } of rows.map((line): Row => JSON.parse(line))) {
  test(`file: ${what}`, { skip: different.has(what) && "the message of upstream names an internal type" }, () => {
    const load = (): unknown[] => parseAuthorizationConfiguration(Buffer.from(file)).authorizers.map(asUpstream);
    if (error !== undefined) assert.throws(load, { name: "ConfigurationError", message: error });
    else assert.deepEqual(load(), config?.authorizers.map(asHere));
  });
}

const duration = (ms: number): string => formatDuration(BigInt(Math.round(ms * 1e6)));

/** Uses the field names of upstream's Go structs. */
function asUpstream({ type, name, webhook }: AuthorizerConfiguration): unknown {
  if (webhook === undefined) return { Type: type, Name: name, Webhook: null };
  const {
    authorizedTtlMs,
    unauthorizedTtlMs,
    timeoutMs,
    subjectAccessReviewVersion,
    failurePolicy,
    connectionInfo,
    conditions,
  } = webhook;
  return {
    Type: type,
    Name: name,
    Webhook: {
      AuthorizedTTL: duration(authorizedTtlMs),
      UnauthorizedTTL: duration(unauthorizedTtlMs),
      Timeout: duration(timeoutMs),
      SubjectAccessReviewVersion: subjectAccessReviewVersion,
      FailurePolicy: failurePolicy,
      ConnectionInfo: {
        Type: connectionInfo.type,
        KubeConfigFile: "kubeConfigFile" in connectionInfo ? connectionInfo.kubeConfigFile : null,
      },
      hasConditions: conditions !== undefined,
    },
  };
}

interface GoWebhook {
  readonly [field: string]: unknown;
  readonly MatchConditions: readonly unknown[] | null;
}

/** Expresses a disabled cache as a TTL of 0. */
function asHere(authorizer: unknown): unknown {
  const { Webhook, ...rest } = authorizer as { Webhook: GoWebhook | null };
  if (Webhook === null) return authorizer;
  const {
    MatchConditions,
    CacheAuthorizedRequests,
    CacheUnauthorizedRequests,
    MatchConditionSubjectAccessReviewVersion,
    ...webhook
  } = Webhook;
  return {
    ...rest,
    Webhook: {
      ...webhook,
      AuthorizedTTL: CacheAuthorizedRequests ? webhook.AuthorizedTTL : "0s",
      UnauthorizedTTL: CacheUnauthorizedRequests ? webhook.UnauthorizedTTL : "0s",
      hasConditions: (MatchConditions ?? []).length > 0,
    },
  };
}

const authorizer = (type: string, name = type.toLowerCase()): string => `- type: ${type}\n  name: ${name}\n`;
const file = (...authorizers: string[]): Buffer =>
  Buffer.from(
    `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n${authorizers.join("")}`,
  );

const ruleRows: [what: string, file: Buffer, required: ("Node" | "RBAC" | "Webhook")[], error: string][] = [
  [
    "a name that differs from the type",
    file(authorizer("RBAC", "r")),
    [],
    "expected name rbac for authorizer RBAC instead of r",
  ],
  ["missing types", file(authorizer("AlwaysDeny")), ["RBAC", "Webhook", "Node"], "missing required types: [Node RBAC]"],
  [
    "wrong names and missing types",
    file(authorizer("RBAC", "r"), authorizer("ABAC", "a")),
    ["Node"],
    "[expected name rbac for authorizer RBAC instead of r, expected name abac for authorizer ABAC instead of a, missing required types: [Node]]",
  ],
];

for (const [what, bytes, required, message] of ruleRows) {
  test(what, () => assert.throws(() => parseAuthorizationConfiguration(bytes, required), { message }));
}
