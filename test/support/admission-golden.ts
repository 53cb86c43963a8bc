/**
 * Scenarios of admission with the answers of kube-apiserver: configurations of webhooks and policies, requests, and what the webhooks
 * receive. `tools/golden/server/admission/record.ts` records the answers; `runScenario` sends the requests to either server.
 */
import type { ScriptedWebhook, WebhookAnswer } from "./scripted-webhook.ts";

// biome-ignore lint/suspicious/noExplicitAny: any object of any kind.
export type Sent = Record<string, any>;

/** The collection and the object to create in it. `$WEBHOOK`, `$PORT` and `$CA` are those of the webhook server. */
export type SetupStep = readonly [path: string, object: Sent];

export interface Scenario {
  readonly name: string;
  readonly setup: readonly SetupStep[];
  /** By path of the webhook. The n-th call gets the n-th answer, later calls the last. Without answers, it allows. */
  readonly answers: Readonly<Record<string, readonly WebhookAnswer[]>>;
  readonly requests: readonly AdmissionRequest[];
}

export interface AdmissionRequest {
  /** `POST /api/v1/namespaces/work/configmaps` */
  readonly line: string;
  readonly body?: unknown;
  /** Of the body; JSON if undefined. */
  readonly type?: string;
  /** The user to impersonate, and a group; {@link defaultUser} if undefined. */
  readonly user?: readonly [name: string, group?: string];
}

export interface AdmissionAnswer {
  readonly status: number;
  /** The body, with placeholders for the values that differ each time. */
  readonly text: string;
  /** The `Warning` headers, joined. */
  readonly warnings?: string;
  /** The annotations of the audit event, except those of the authorizer. */
  readonly audit?: Readonly<Record<string, string>>;
  /** What the webhooks received: path and body, of mutating webhooks in order, then of validating ones sorted. */
  readonly reviews?: readonly Review[];
}

/** What a webhook received. */
type Review = readonly [path: string, body: string];

/** A line of a fixture. The first row of a scenario has the scenario. */
export interface AdmissionRow {
  readonly scenario?: Omit<Scenario, "requests">;
  readonly request: AdmissionRequest;
  readonly answer: AdmissionAnswer;
}

/** The first line of a fixture. */
export interface AdmissionHeader {
  /** Objects for all scenarios. */
  readonly setup: readonly SetupStep[];
  /** What differs from the default plugins; without it, only the plugins of webhooks and policies run. */
  readonly plugins?: RecordedPlugins;
}

/** Flags of admission plugins. */
export interface RecordedPlugins {
  readonly enable?: readonly string[];
  readonly disable?: readonly string[];
  readonly featureGates?: string;
  readonly runtimeConfig?: string;
  /** By plugin: its configuration. */
  readonly configurations?: Readonly<Record<string, Sent>>;
  /** The path of the webhook to which the kubeconfig leads that configurations name as `$KUBECONFIG`. */
  readonly webhookPath?: string;
  /** Time does not pass in the server that replays. */
  readonly isClockStopped?: boolean;
}

export interface AdmissionServer {
  /** Sends a request as the user of the headers. */
  send(
    line: string,
    body: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<{ readonly status: number; readonly warnings: string; readonly text: string }>;
  /** Resolves when the server uses the configurations that are written. */
  settle(): Promise<void>;
  /** Annotations of the event with an ID; undefined without auditing. */
  annotations(auditId: string): Promise<Readonly<Record<string, string>> | undefined>;
  readonly webhook: ScriptedWebhook;
}

const defaultUser: readonly [string, string] = ["golden-user", "system:masters"];
const userAgent = "golden/1.0";
const configurationGroup = "/apis/admissionregistration.k8s.io/";

/** Creates objects. @throws Error if the server rejects one that does not exist */
export async function setUp(server: AdmissionServer, steps: readonly SetupStep[]): Promise<void> {
  for (const [path, object] of steps) {
    const body = server.webhook.fill(JSON.stringify(object));
    const answer = await server.send(`POST ${path}`, body, { "content-type": "application/json" });
    if (answer.status !== 201 && answer.status !== 409)
      throw new Error(`${path} ${object.metadata.name}: ${answer.text}`);
  }
}

/** Creates the objects of a scenario, sends its requests, and deletes its configurations. */
export async function runScenario(server: AdmissionServer, scenario: Scenario): Promise<AdmissionAnswer[]> {
  const { name, setup, answers, requests } = scenario;
  server.webhook.script(answers);
  await setUp(server, setup);
  await server.settle();
  const results: AdmissionAnswer[] = [];
  for (const [index, request] of requests.entries()) results.push(await run(server, request, `${name}-${index}`));
  for (const [path, object] of setup) {
    if (path.startsWith(configurationGroup)) await server.send(`DELETE ${path}/${object.metadata.name}`, undefined, {});
  }
  return results;
}

async function run(server: AdmissionServer, request: AdmissionRequest, auditId: string): Promise<AdmissionAnswer> {
  const { line, body, type = "application/json", user = defaultUser } = request;
  const [name, group] = user;
  server.webhook.forget();
  const sent = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const { status, warnings, text } = await server.send(line, sent === undefined ? sent : server.webhook.fill(sent), {
    ...(sent !== undefined && { "content-type": type }),
    "user-agent": userAgent,
    "audit-id": auditId,
    "impersonate-user": name,
    ...(group !== undefined && { "impersonate-group": group }),
  });
  const audit = relevant(await server.annotations(auditId));
  const reviews = inOrder(server.webhook.reviews(name).map(([path, sent]) => [path, normalized(sent)]));
  return {
    status,
    text: normalized(text.trim()),
    ...(warnings !== "" && { warnings: normalized(warnings) }),
    ...(audit !== undefined && { audit }),
    ...(reviews.length > 0 && { reviews }),
  };
}

/** Validating webhooks are called in parallel, so their reviews are sorted. Paths of mutating ones start with `/m`. */
function inOrder(reviews: readonly Review[]): Review[] {
  const isMutating = ([path]: Review): boolean => path.startsWith("/m");
  const validating = reviews.filter((review) => !isMutating(review));
  validating.sort((one, other) => (one.join() < other.join() ? -1 : 1));
  return [...reviews.filter(isMutating), ...validating];
}

function relevant(all: Readonly<Record<string, string>> = {}): Record<string, string> | undefined {
  const entries = Object.entries(all).filter(([key]) => !/^(?:authorization|apiserver\.latency)\.k8s\.io\//.test(key));
  entries.sort(([one], [other]) => (one < other ? -1 : 1));
  return entries.length === 0 ? undefined : Object.fromEntries(entries.map(([key, value]) => [key, normalized(value)]));
}

const differing: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "<uid>"],
  [/20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, "<time>"],
  [/("resourceVersion":\s*")[1-9]\d*/g, "$1<version>"],
  [/\b(generated-)[a-z0-9]{5}\b/g, "$1<random>"],
  [/\b(kube-api-access-)[bcdfghjklmnpqrstvwxz2456789]{5}\b/g, "$1<random>"],
  [/\beyJ[\w-]+\.[\w-]+\.[\w-]+/g, "<token>"],
  [/("clusterIPs?":\s*\[?")10\.0\.0\.\d+/g, "$1<address>"],
  [/("nodePort":\s*)3\d{4}\b/g, '$1"<port>"'],
  [/127\.0\.0\.1:\d+/g, "<address>"],
  [/(localhost|\.svc):\d+/g, "$1:<port>"],
];

/** Replaces values that differ each time. */
function normalized(text: string): string {
  return sortManagedFields(sortBounds(differing.reduce((changed, [from, to]) => changed.replaceAll(from, to), text)));
}

/** Sorts the violated bounds of LimitRanges, which upstream lists in the random order of a Go map. */
function sortBounds(text: string): string {
  const start = /, (?=(?:minimum|maximum) \S+ usage per |\S+ max limit to request ratio per )/;
  return text.replace(/( is forbidden: \[)([^"\\]+)(\]")/, (_, before: string, bounds: string, after: string) =>
    [before, bounds.split(start).sort().join(", "), after].join(""),
  );
}

const managedFieldsStart = '"managedFields":[';

/** Sorts the entries of managed fields in compact JSON: a server sorts them by time, which differs. */
function sortManagedFields(text: string): string {
  return text
    .split(managedFieldsStart)
    .map((part, index) => {
      if (index === 0) return part;
      const entries = JSON.parse(`[${part.slice(0, endOfList(part))}]`).map((entry: unknown) => JSON.stringify(entry));
      return entries.sort().join(",") + part.slice(endOfList(part));
    })
    .join(managedFieldsStart);
}

/** @returns the index of the `]` that ends the list in which the text starts; no string in managed fields has brackets */
function endOfList(text: string): number {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    if (text[index] === "[") depth++;
    else if (text[index] === "]" && depth-- === 0) return index;
  }
  throw new Error(`a list does not end: ${text}`);
}
