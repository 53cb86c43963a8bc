/**
 * Requests with the access checks that a kube-apiserver sends to its authorizer.
 * `tools/golden/server/rights/record.ts` records them; {@link openRightsSession} sends a step to
 * either server and reports the checks that its webhook authorizer received.
 */
import http2 from "node:http2";
import { parseGroupVersion } from "../../src/apimachinery/object.ts";
import { builtinSchema, definitionOf } from "../../src/catalog/builtin-schemas.ts";
import { cloneJson } from "../../src/lib/json/values.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../src/lib/protobuf/envelope.ts";
import { conform } from "../../src/lib/schema/decode.ts";

// biome-ignore lint/suspicious/noExplicitAny: any object of any kind.
type Sent = Record<string, any>;

/** One request. All but the admin's are subject to the authorizer. */
export interface RightsStep {
  /** Method and path. */
  readonly line: string;
  /**
   * One of the {@link requesters}, `user` by default; `admin` prepares later steps and is not
   * subject to the authorizer.
   */
  readonly as?: string;
  /** Media type of the body; `protobuf` encodes it. JSON by default. */
  readonly type?: string;
  /** `$R` is replaced by a unique text. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** The path of an object whose current state is the body; `body` is merged into it. */
  readonly current?: string;
  /** The path of an object whose uid replaces `$UID` in the body. */
  readonly uidOf?: string;
  /** Prefixes of checks that are always denied, so that the server performs alternative checks. */
  readonly lacking?: readonly string[];
}

/**
 * @property rights in the order of the checks, each with the status of the answer if it is denied
 */
export interface RightsRow extends RightsStep {
  readonly status: number;
  readonly rights: readonly (readonly [right: string, statusWithout: number])[];
}

/**
 * The steps of one resource at one version, or of one subject; each uses the state that earlier
 * steps leave.
 */
export interface RightsArea {
  readonly area: string;
  readonly rows: readonly RightsRow[];
}

/** One line for each area and row. */
export function formatRightsTable(areas: readonly RightsArea[]): string {
  return areas
    .map(({ area, rows }) => `${[{ area }, ...rows].map((line) => JSON.stringify(line)).join("\n")}\n`)
    .join("");
}

export function parseRightsTable(text: string): RightsArea[] {
  const areas: { area: string; rows: RightsRow[] }[] = [];
  for (const line of text.trimEnd().split("\n")) {
    const value: { area: string } | RightsRow = JSON.parse(line);
    if ("area" in value) areas.push({ area: value.area, rows: [] });
    else areas.at(-1)?.rows.push(value);
  }
  return areas;
}

/** The kubeconfig of the webhook authorizer. */
export function formatWebhookKubeconfig({ url, ca }: { readonly url: string; readonly ca: string }): string {
  const authority = Buffer.from(ca).toString("base64");
  return `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: w, user: u}}]
clusters: [{name: w, cluster: {server: "${url}", certificate-authority-data: ${authority}}}]
users: [{name: u, user: {}}]
`;
}

/** The body of a request to the authorizer. */
interface Review {
  readonly spec: {
    readonly user?: string;
    readonly resourceAttributes?: Sent;
    readonly nonResourceAttributes?: Sent;
  };
}

/**
 * Such as `create apps/v1 deployments/status n/a` or `get /version`; with the prefix `as bob: ` for
 * other users.
 */
function describeRight({ spec: { user = "", resourceAttributes, nonResourceAttributes } }: Review): string {
  const who = Object.values(requesters).some(({ name }) => name === user) ? "" : `as ${user}: `;
  if (nonResourceAttributes !== undefined) return `${who}${nonResourceAttributes.verb} ${nonResourceAttributes.path}`;
  const {
    verb = "",
    group = "",
    version = "",
    resource = "",
    subresource = "",
    namespace = "",
    name = "",
    fieldSelector,
    labelSelector,
  } = resourceAttributes ?? {};
  const what = subresource === "" ? resource : `${resource}/${subresource}`;
  const selectors = [fieldSelector, labelSelector].map((one) =>
    one === undefined ? "" : ` ${JSON.stringify(one.requirements)}`,
  );
  return `${who}${verb} ${group}/${version} ${what} ${namespace}/${name}${selectors.join("")}`;
}

interface Requester {
  readonly name: string;
  readonly groups: readonly string[];
}

/**
 * The users that send the steps, by name. Each impersonator uses one kind of impersonation, because
 * kube-apiserver remembers the last kind of a user and checks it first.
 */
export const requesters: Readonly<Record<string, Requester>> = {
  user: { name: "user", groups: [] },
  node: { name: "system:node:n", groups: ["system:nodes"] },
  ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((n) => [`impersonator${n}`, { name: `impersonator${n}`, groups: [] }])),
};

/** The same step as a dry run. */
export function dryRun(step: RightsStep): RightsStep {
  const { line } = step;
  if (line.startsWith("GET ") || line.includes("dryRun=")) return step;
  return { ...step, line: `${line}${line.includes("?") ? "&" : "?"}dryRun=All` };
}

interface RightsAnswer {
  readonly status: number;
  /** In the order of the checks. */
  readonly asked: readonly string[];
  readonly text: string;
}

export interface RightsSession {
  /** @param granted the rights that the user has */
  send(step: RightsStep, granted: (right: string) => boolean): Promise<RightsAnswer>;
  /** Returns the answer of the webhook to a review. */
  review(request: Review): object;
  close(): void;
}

export interface RightsUser {
  readonly url: string;
  readonly tls: http2.SecureClientSessionOptions;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends one request at a time, so that the checks in the meantime belong to it. */
export function openRightsSession(users: Readonly<Record<string, RightsUser>>): RightsSession {
  const connections = Object.fromEntries(Object.entries(users).map(([name, user]) => [name, connect(user)]));
  let asked: string[] = [];
  let decide: (right: string) => boolean = () => false;
  let sent = 0;
  const admin = async (line: string): Promise<Sent | undefined> => {
    const { status, text } = await (connections.admin as Connection).request(line, {}, undefined);
    return status === 200 ? JSON.parse(text) : undefined;
  };
  return {
    async send(step, granted) {
      const body = await bodyOf(step, admin);
      asked = [];
      decide = granted;
      sent++;
      const own = Object.entries(step.headers ?? {}).map(([name, value]) => [
        name,
        value.replaceAll("$R", uniqueText(sent)),
      ]);
      const headers = { ...(body !== undefined && { "content-type": mediaTypeOf(step) }), ...Object.fromEntries(own) };
      const answer = await (connections[step.as ?? "user"] as Connection).request(step.line, headers, body);
      return { ...answer, asked };
    },
    review(request) {
      const right = describeRight(request).replaceAll(uniqueText(sent), "$R");
      asked.push(right);
      return { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", status: { allowed: decide(right) } };
    },
    close() {
      for (const connection of Object.values(connections)) connection.close();
    },
  };
}

/** A text that no request has used. */
function uniqueText(count: number): string {
  return `x${1_000_000 + count}`;
}

function mediaTypeOf({ type = "application/json" }: RightsStep): string {
  return type === "protobuf" ? "application/vnd.kubernetes.protobuf" : type;
}

async function bodyOf(
  step: RightsStep,
  admin: (line: string) => Promise<Sent | undefined>,
): Promise<Buffer | undefined> {
  const { body, current, uidOf, type } = step;
  const object = current === undefined ? undefined : await admin(`GET ${current}`);
  if (object === undefined && body === undefined) return undefined;
  const sent = Array.isArray(body) ? body : merged(object ?? {}, (body ?? {}) as Sent);
  if (type === "protobuf") return inProtobuf(sent);
  const uid: string = uidOf === undefined ? "" : (await admin(`GET ${uidOf}`))?.metadata.uid;
  return Buffer.from(JSON.stringify(sent).replaceAll("$UID", uid));
}

/** Merges `over` into the plain object `object`; lists are replaced. */
function merged(object: Sent, over: Sent): Sent {
  const next = cloneJson(object);
  for (const [key, value] of Object.entries(over)) {
    const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
    next[key] = isMap && typeof next[key] === "object" ? merged(next[key], value) : value;
  }
  return next;
}

function inProtobuf(object: Sent): Buffer {
  const { group, version } = parseGroupVersion(object.apiVersion) as { group: string; version: string };
  const schema = builtinSchema(definitionOf(group, version, object.kind) as string);
  return wrapInEnvelope(object.apiVersion, object.kind, encodeProtobuf(conform(object, schema).object, schema));
}

interface Connection {
  request(
    line: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer | undefined,
  ): Promise<{ status: number; text: string }>;
  close(): void;
}

function connect({ url, tls, headers: own }: RightsUser): Connection {
  let session: http2.ClientHttp2Session | undefined;
  const open = (): http2.ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    session = http2.connect(url, tls); // The server has closed an idle connection.
    session.on("error", () => {}); // Each request reports it.
    return session;
  };
  return {
    request: (line, headers, body) =>
      new Promise((resolve, reject) => {
        const [method = "", path = ""] = line.split(" ");
        const stream = open().request(
          { ":method": method, ":path": path, ...own, ...headers },
          { endStream: body === undefined },
        );
        const pieces: Buffer[] = [];
        let status = 0;
        stream.on("response", (answer) => {
          status = Number(answer[":status"]);
          if (!isWatch(line) || status !== 200) return;
          resolve({ status, text: "" }); // The watch has started.
          stream.close(http2.constants.NGHTTP2_CANCEL);
        });
        stream.on("data", (piece: Buffer) => pieces.push(piece));
        stream.on("end", () => resolve({ status, text: Buffer.concat(pieces).toString() }));
        stream.on("error", reject);
        if (body !== undefined) stream.end(body);
      }),
    close: () => session?.close(),
  };
}

function isWatch(line: string): boolean {
  return line.startsWith("GET ") && /[?&]watch=|\/watch\//.test(line);
}
