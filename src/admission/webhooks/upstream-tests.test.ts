/**
 * Upstream's tests of both webhook plugins, replayed with a webhook that answers as theirs.
 * `npm run golden admission-tests` records testdata/webhooks.jsonl again.
 */
import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { after, test } from "node:test";
import { customThing } from "../../../test/support/custom-thing.ts";
import { noLoopback } from "../../../test/support/loopback-credentials.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { attributesOf, type RecordedRequest, readCalls } from "../../../test/support/recorded-admission.ts";
import { startWebhookServer } from "../../../test/support/webhook-server.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved, ServedVersion } from "../../catalog/contract.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { RequestAudit } from "../../request/audit.ts";
import { sharedClients } from "../../webhook/shared-clients.ts";
import { inMemory } from "../configurations.ts";
import { openMatching } from "../matching/matcher.ts";
import { versionedObjects } from "../matching/versioned.ts";
import { compileConfiguration, releaseConfiguration } from "./configuration.ts";
import type { WebhookObserver } from "./contract.ts";
import { mutatingWebhooks } from "./mutating.ts";
import { type DispatchNeeds, validatingWebhooks } from "./validating.ts";

interface Answer {
  readonly path: string;
  readonly status?: number;
  readonly type?: string;
  readonly body?: string;
  readonly raw?: string;
}

interface ClientConfig {
  readonly url?: string;
  readonly service?: object;
}

interface Call {
  readonly plugin: "mutating" | "validating";
  readonly webhooks: readonly { readonly name: string; readonly clientConfig: ClientConfig }[];
  readonly request: RecordedRequest;
  readonly answers?: readonly Answer[];
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>> | null;
  readonly rejections?: readonly string[];
  readonly status?: { readonly message: string };
}

/** Names of validating webhooks whose rejections were logged. */
let logged: unknown[] = [];
const logger: Logger = {
  info() {},
  warn: (message, fields) => void (message === "Rejected by webhook" && logged.push(fields?.webhook)),
  error() {},
};
const memory = await openMemoryRegistry();
const { catalog } = memory.registry;
await memory.create(["/namespaces", ""], { metadata: { name: "webhook-test", labels: { runlevel: "0" } } });
let answers: Answer[] = [];
const server = await startWebhookServer(
  ({ path }) =>
    (response) =>
      reply(response, path),
  { names: ["127.0.0.1", "webhook-test.default.svc"] },
);
const clients = sharedClients({
  resolve: () => ({ host: "127.0.0.1", port: server.port }),
  loopback: noLoopback,
  findCredentials: async () => ({}),
});
after(async () => {
  clients.close();
  await server.close();
  await memory.close();
});

function reply(response: ServerResponse, path: string): void {
  const at = answers.findIndex((answer) => path.startsWith(`${answer.path}?`));
  const [answer] = answers.splice(at, at < 0 ? 0 : 1);
  assert.ok(answer, `unexpected call of ${path}`);
  if (answer.raw !== undefined) return void response.socket?.end(answer.raw);
  response.writeHead(answer.status ?? 200, answer.type === undefined ? {} : { "content-type": answer.type });
  response.end(answer.body);
}

const pods = catalog.find("", "v1", "pods") as Resolved;
const thing = customThing(pods.resource.definition);
const custom = { ...thing, group: "custom.resource", resource: "crd", kind: "TestCRD" };
const targets: Readonly<Record<string, Resolved>> = {
  Pod: pods,
  TestCRD: { resource: { definition: custom }, version: thing.versions[0] as ServedVersion } as unknown as Resolved,
};

interface Outcome extends Pick<Call, "labels" | "annotations" | "rejections"> {
  readonly status?: object;
  /** Answers that were not requested. */
  readonly left: number;
}

async function outcomeOf({ plugin, webhooks: specs, request, answers: recorded = [] }: Call): Promise<Outcome> {
  answers = [...recorded];
  logged = [];
  const annotations: Record<string, string> = {};
  const rejections: string[] = [];
  const webhooks = compileConfiguration(configurationOf(specs), {
    matching: openMatching(catalog),
    clients,
    type: plugin === "mutating" ? "admit" : "validating",
    openConditions: () => assert.fail("no webhook has conditions"),
  });
  const needs: DispatchNeeds = {
    webhooks: () => inMemory(() => webhooks),
    catalog,
    versioned: versionedObjects(catalog),
    observer: rejectionsInto(rejections),
    logger,
    ...{ elapsed: () => 0, now: () => 0, newUid: () => "uid" },
  };
  const attributes = auditedAttributes(request, annotations);
  const status = await statusOf(async () =>
    plugin === "mutating"
      ? mutatingWebhooks(needs).mutate?.(attributes)
      : validatingWebhooks(needs).validate?.(attributes),
  );
  releaseConfiguration(webhooks);
  const labels = attributes.object?.metadata.labels ?? {};
  return {
    ...{ labels, annotations: Object.keys(annotations).length === 0 ? null : annotations, left: answers.length },
    ...(rejections.length > 0 && { rejections: rejections.sort() }),
    ...(status && { status: constant({ metadata: {}, status: "Failure", ...status }, rejections.length) }),
  };
}

function configurationOf(specs: Call["webhooks"]): KubeObject {
  const caBundle = Buffer.from(server.ca).toString("base64");
  const configOf = ({ url, ...config }: ClientConfig): object => ({
    ...config,
    caBundle,
    ...(url !== undefined && { url: url.replace("https://webhook.test", server.url) }),
  });
  const webhooks = specs.map((spec) => ({ ...spec, clientConfig: configOf(spec.clientConfig) }));
  return { apiVersion: "", kind: "", metadata: { name: "test-webhooks" }, webhooks };
}

function auditedAttributes(request: RecordedRequest, annotations: Record<string, string>): AdmissionAttributes {
  const audit: Partial<RequestAudit> = {
    level: "Request",
    annotate(key, value) {
      annotations[key] = value;
    },
    timing: () => () => {},
  };
  const target = targets[request.kind.kind] as Resolved;
  const attributes = attributesOf(structuredClone(request), target);
  return { ...attributes, audit: audit as RequestAudit, user: { ...attributes.user, name: "webhook-test" } };
}

function rejectionsInto(rejections: string[]): WebhookObserver {
  return {
    called: () => {},
    failedOpen: () => {},
    rejected: ({ name, type, operation }, cause, code) =>
      void rejections.push(
        `error_type=${cause} name=${name} operation=${operation} rejection_code=${code} type=${type}`,
      ),
  };
}

async function statusOf(run: () => Promise<void>): Promise<ApiError["status"] | undefined> {
  try {
    await run();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.status;
    throw error;
  }
}

/**
 * Removes what differs: the port, the first of several validating webhooks that fail, the timeout that defaulting would
 * set, and what the HTTP parser says.
 */
function constant(status: object, rejections: number): object {
  let text = JSON.stringify(status)
    .replaceAll(`127.0.0.1:${server.port}`, "webhook.test")
    .replaceAll("?timeout=10s", "")
    .replaceAll(
      /(connection broken: )(?:malformed HTTP response \\"bad-http\\"|Response does not match [^"]*)/g,
      "$1…",
    );
  if (rejections > 1) text = text.replaceAll(/webhook \\"[^"]*\\"/g, "webhook ANY");
  return JSON.parse(text);
}

/** Calls of webhooks that validation rejects, because they have no address or no sideEffects. */
const unreachable = ["could not get REST client: failed calling webhook", "Webhook SideEffects is nil"];

const calls = readCalls<Call>(join(import.meta.dirname, "testdata/webhooks.jsonl")).filter(
  ({ status }) => !unreachable.some((text) => status?.message.includes(text)),
);
for (const [index, call] of calls.entries()) {
  const { plugin, webhooks, request, labels, annotations, rejections, status } = call;
  const names = webhooks.map(({ name }) => name).join(", ");
  test(`${index}: ${plugin} ${request.kind.kind}${request.dryRun ? " dry run" : ""}, ${names}`, async () => {
    const expected = { labels, annotations, left: 0, ...(rejections && { rejections }) };
    assert.deepEqual(await outcomeOf(call), { ...expected, ...(status && { status: constant(status, 0) }) });
    const isDenied = plugin === "validating" && status?.message.includes("denied the request");
    assert.equal(logged.length > 0, isDenied === true);
  });
}

test("few calls are unreachable", () => {
  const all = readCalls<Call>(join(import.meta.dirname, "testdata/webhooks.jsonl"));
  assert.equal(all.length - calls.length, 4);
});
