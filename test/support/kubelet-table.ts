/**
 * Requests for the logs and streams of pods, with the objects that they need: recorded from kube-apiserver by
 * tools/golden/server/kubelet, and replayed by src/forwarding/kubelet/requests.golden.test.ts. Both use the kubelet of
 * fake-kubelet.ts.
 */
import tls from "node:tls";

/** The address of the kubelet, as it is recorded. */
const recordedAddress = "KUBELET";

/** A request and, in the fixture, its answer. */
export interface KubeletRow {
  readonly method: string;
  /** Behind `/api/v1/namespaces/default/pods/`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

export interface KubeletAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const containers = [
  "main",
  "hang",
  "redirect",
  "long-error",
  "die",
  "die-early",
  "garbage",
  "typed",
  "empty",
  "status-204",
  "status-206",
  "status-300",
  "status-400",
  "status-401",
  "status-403",
  "status-404",
  "status-409",
  "status-410",
  "status-422",
  "status-429",
  "status-500",
  "status-503",
  "status-504",
  "other-protocol",
  "garbage-early",
];

const spec = (nodeName: string | undefined, names: readonly string[]): object => ({
  ...(nodeName !== undefined && { nodeName }),
  containers: names.map((name) => ({ name, image: "i" })),
  terminationGracePeriodSeconds: 0,
  automountServiceAccountToken: false,
});

/** Pods by name. */
export const pods: Readonly<Record<string, object>> = {
  one: spec("worker", ["main"]),
  many: { ...spec("worker", containers), initContainers: [{ name: "init", image: "i" }] },
  unscheduled: spec(undefined, ["main"]),
  lost: spec("missing", ["main"]),
  addressless: spec("addressless", ["main"]),
  "other-types": spec("other-types", ["main"]),
  closed: spec("closed", ["main"]),
  features: spec("features", ["main", "status-403"]),
};

interface Address {
  readonly host: string;
  readonly port: number;
}

/** The status of nodes by name. */
export function nodes({ host, port }: Address): Readonly<Record<string, object>> {
  const addresses = [{ type: "InternalIP", address: host }];
  const at = (Port: number): object => ({ kubeletEndpoint: { Port } });
  return {
    worker: {
      addresses: [...addresses, { type: "ExternalIP", address: "198.51.100.1" }],
      daemonEndpoints: at(port),
    },
    addressless: { daemonEndpoints: at(port) },
    "other-types": {
      addresses: [
        { type: "Custom", address: "198.51.100.1" },
        { type: "Other", address: "198.51.100.2" },
      ],
      daemonEndpoints: at(port),
    },
    closed: { addresses, daemonEndpoints: at(1) },
    features: { addresses, daemonEndpoints: at(port), declaredFeatures: ["ExtendWebSocketsToKubelet"] },
  };
}

/** Sends a request as an administrator. @param line method and path */
export type Send = (line: string, body: object, contentType: string) => Promise<{ readonly status: number }>;

/** Creates the nodes and pods. */
export async function createObjects(send: Send, kubelet: Address): Promise<void> {
  const create = async (line: string, body: object, contentType = "application/json"): Promise<void> => {
    const { status } = await send(line, body, contentType);
    if (status >= 300) throw new Error(`${line}: ${status}`);
  };
  for (const [name, status] of Object.entries(nodes(kubelet))) {
    await create("POST /api/v1/nodes", { metadata: { name } });
    await create(`PATCH /api/v1/nodes/${name}/status`, { status }, "application/merge-patch+json");
  }
  for (const [name, spec] of Object.entries(pods))
    await create("POST /api/v1/namespaces/default/pods", { metadata: { name }, spec });
}

const logQueries = [
  "",
  "follow=true&previous=true&timestamps=true&sinceSeconds=5&tailLines=7&limitBytes=9",
  "sinceTime=2024-01-02T03:04:05Z",
  "sinceTime=2024-01-02T03:04:05.678%2B02:00",
  "sinceTime=yesterday",
  "sinceTime=",
  "follow=false&previous=0&timestamps=f",
  "follow=maybe",
  "follow",
  "tailLines=-1",
  "tailLines=0",
  "tailLines=x",
  "tailLines=99999999999999999999",
  "limitBytes=0",
  "sinceSeconds=0",
  "sinceSeconds=1&sinceTime=2024-01-02T03:04:05Z",
  "tailLines=-1&limitBytes=-1&sinceSeconds=-1",
  "stream=Stdout",
  "stream=All",
  "stream=Other",
  "stream=",
  "container=main",
  "container=other",
  "container=",
  "insecureSkipTLSVerifyBackend=true",
  "unknown=x",
  "pretty=true",
  "timeout=1s",
  "dryRun=All",
];

/** Commands of the kubelet of the tests, for WebSockets of `v5.channel.k8s.io`. */
const commands = [
  "both",
  "exit 7",
  "exit 300",
  "exit x",
  "fail it does not run",
  "answer",
  "answer {}",
  "answer null",
  "answer [",
  'answer {"status":"Success","message":"x"}',
  'answer {"status":"Failure"}',
  'answer {"status":"Failure","reason":"NonZeroExitCode"}',
  'answer {"status":"Failure","reason":"NonZeroExitCode","details":{}}',
  'answer {"status":"Failure","message":"m","reason":"Other","code":403}',
  "die",
  "reset",
  "late-garbage",
  "garbage",
  "refuse",
  "status-400",
  "status-403",
  "status-500",
  "die-early",
  "garbage-early",
  "other-protocol",
];

const plain: Readonly<Record<string, string>> = {};
const spdy = {
  connection: "Upgrade",
  upgrade: "SPDY/3.1",
  "x-stream-protocol-version": "v4.channel.k8s.io",
};
const webSocket = (protocol: string): Record<string, string> => ({
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
  "sec-websocket-protocol": protocol,
});
const streams = "stdout=true&command=";

type Row = [method: string, path: string, headers?: Readonly<Record<string, string>>];

const rows: Row[] = [
  ...logQueries.map((query): Row => ["GET", `one/log?${query}`]),
  ...containers
    .filter((name) => !["hang", "other-protocol", "garbage-early"].includes(name))
    .map((name): Row => ["GET", `many/log?container=${name}`]),
  ["GET", "many/log"],
  ["GET", "many/log?container=init"],
  ["GET", "absent/log"],
  ["GET", "absent/log?tailLines=-1"],
  ["GET", "unscheduled/log"],
  ["GET", "unscheduled/log?container=other"],
  ["GET", "lost/log"],
  ["GET", "addressless/log"],
  ["GET", "other-types/log"],
  ["GET", "closed/log"],
  ["GET", "closed/log?insecureSkipTLSVerifyBackend=true"],
  ["HEAD", "one/log"],
  ["POST", "one/log"],
  ["PUT", "one/log"],
  ["DELETE", "one/log"],
  ["GET", "one/log/more"],
  ...["application/json", "application/yaml", "text/plain", "image/png", "*/*"].map(
    (accept): Row => ["GET", "one/log", { accept }],
  ),
  ["GET", "one/log", { accept: "image/png" }],
  ["GET", "absent/log", { accept: "text/plain" }],
  ["GET", "one/log", { range: "bytes=1-2", "accept-encoding": "gzip" }],
  ["GET", "one/log", spdy],
  ["GET", "one/log", webSocket("binary.k8s.io")],
  ...["exec", "attach", "portforward"].flatMap((kind): Row[] => [
    ...["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"].map(
      (method): Row => [method, `one/${kind}?${streams}echo`],
    ),
    ["GET", `absent/${kind}?${streams}echo`],
    ["GET", `unscheduled/${kind}?${streams}echo`],
    ["POST", `unscheduled/${kind}?${streams}echo`, spdy],
    ["GET", `lost/${kind}?${streams}echo`],
    ["GET", `addressless/${kind}?${streams}echo`],
    ["GET", `other-types/${kind}?${streams}echo`],
    ["GET", `closed/${kind}?${streams}echo`],
    ["POST", `closed/${kind}?${streams}echo`, spdy],
    ["GET", `closed/${kind}?${streams}echo`, webSocket("v4.channel.k8s.io")],
    ["GET", `many/${kind}?${streams}echo`],
    ["GET", `many/${kind}?container=other&${streams}echo`],
    ["POST", `one/${kind}?dryRun=All&${streams}echo`, spdy],
    ["GET", `one/${kind}/more`, spdy],
    ["POST", `one/${kind}?stdin=maybe&ports=x`, spdy],
    ["POST", `one/${kind}?ports=99999999`, spdy],
    ["POST", `one/${kind}`, spdy],
    ["POST", `one/${kind}?${streams}echo`, { ...spdy, "x-stream-protocol-version": "other" }],
    ["POST", `one/${kind}?${streams}echo`, { ...spdy, upgrade: "other" }],
    ["POST", `one/${kind}?${streams}echo`, { ...spdy, connection: "keep-alive" }],
    ["POST", `one/${kind}?${streams}echo`, spdy],
    ["GET", `one/${kind}?${streams}echo`, spdy],
    ["GET", `one/${kind}?${streams}echo`, webSocket("v4.channel.k8s.io")],
    ["GET", `one/${kind}?${streams}echo`, webSocket("other")],
    ["POST", `one/${kind}?${streams}echo`, webSocket("v4.channel.k8s.io")],
    ["GET", `features/${kind}?container=main&${streams}echo`, webSocket("v5.channel.k8s.io")],
  ]),
  ...["exec", "attach"].flatMap((kind): Row[] => [
    ["GET", `one/${kind}?${streams}echo`, { ...webSocket("v5.channel.k8s.io"), "sec-websocket-version": "12" }],
    ["GET", `one/${kind}?${streams}echo`, { ...webSocket("v5.channel.k8s.io"), "sec-websocket-key": "" }],
    ["POST", `one/${kind}?${streams}echo`, webSocket("v5.channel.k8s.io")],
    ["GET", `one/${kind}?${streams}echo`, webSocket("v5.channel.k8s.io")],
    ["GET", `one/${kind}?${streams}echo`, webSocket("v4.channel.k8s.io, v5.channel.k8s.io")],
    ["GET", `one/${kind}?${streams}echo`, { ...webSocket("v5.channel.k8s.io"), origin: "https://example.com" }],
    ["GET", `lost/${kind}?${streams}echo`, webSocket("v5.channel.k8s.io")],
  ]),
  ...commands.map((command): Row => {
    const words = command.split(" ").map((word) => `command=${encodeURIComponent(word)}`);
    return ["GET", `one/exec?stdout=true&stderr=true&${words.join("&")}`, webSocket("v5.channel.k8s.io")];
  }),
  ["GET", "one/exec?stdin=true&stdout=true&stderr=true&tty=true&command=echo", webSocket("v5.channel.k8s.io")],
  ["GET", "one/exec?command=echo", webSocket("v5.channel.k8s.io")],
  ["GET", "closed/exec?stdout=true&command=echo", webSocket("v5.channel.k8s.io")],
  ["GET", "many/attach?container=status-403&stdout=true", webSocket("v5.channel.k8s.io")],
  ["GET", "one/portforward", webSocket("SPDY/3.1+portforward.k8s.io")],
  ["GET", "one/portforward", webSocket("SPDY/3.1+other.k8s.io")],
  ["GET", "one/portforward", webSocket("SPDY/3.1+other.k8s.io, SPDY/3.1+portforward.k8s.io")],
  ["GET", "one/portforward", { ...webSocket("SPDY/3.1+portforward.k8s.io"), "sec-websocket-version": "12" }],
  ["GET", "one/portforward", { ...webSocket("SPDY/3.1+portforward.k8s.io"), "sec-websocket-key": "" }],
  ["POST", "one/portforward", webSocket("SPDY/3.1+portforward.k8s.io")],
  ["GET", "closed/portforward", webSocket("SPDY/3.1+portforward.k8s.io")],
  ["GET", "one/portforward?ports=80,81&ports=82", webSocket("v4.channel.k8s.io")],
  ["POST", "one/portforward?ports=80&ports=0", spdy],
  ...["400", "403", "404", "500", "503"].flatMap((status): Row[] => [
    ["POST", `one/exec?${streams}status-${status}`, spdy],
    ["GET", `one/exec?${streams}status-${status}`, webSocket("v4.channel.k8s.io")],
    ["POST", `many/attach?container=status-${status}`, spdy],
  ]),
  ...["die-early", "garbage-early", "other-protocol"].flatMap((what): Row[] => [
    ["POST", `one/exec?${streams}${what}`, spdy],
    ["GET", `one/exec?${streams}${what}`, webSocket("v4.channel.k8s.io")],
  ]),
  ["POST", "one/exec?container=main&command=a&command=b%20c&stdin=true&stdout=1&stderr=t&tty=true", spdy],
  ["POST", "one/attach?stdin=true&stdout=1&stderr=t&tty=true", spdy],
];

export const kubeletRows: readonly KubeletRow[] = rows.map(([method, path, headers = plain]) => ({
  method,
  path,
  headers,
}));

/** Where requests are sent, and with which client certificate. */
export interface Target extends Address {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
}

/** How long the answer of an upgraded connection is read after its head, if it does not end. */
const upgradedMs = 50;
/** The same for translated streams, which end with a close frame of normal closure. */
const translatedMs = 1000;
const closeFrame = "\x88\x02\x03\xe8";

/**
 * Sends a request on a connection of its own, and reads the answer as it is on the wire.
 * @param expected the body of the answer, if it is known: an upgraded connection is read until it has as much
 */
export function sendRow(
  { method, path, headers }: KubeletRow,
  target: Target,
  kubelet: Address,
  expected?: string,
): Promise<KubeletAnswer> {
  const { host, port, ca, cert, key } = target;
  return new Promise((resolve, reject) => {
    const socket = tls.connect({ host, port, ca, cert, key, servername: "", checkServerIdentity: () => undefined });
    const pieces: Buffer[] = [];
    const isTranslated = headers["sec-websocket-protocol"]?.includes("v5.") ?? false;
    const finish = (): void => {
      socket.destroy();
      resolve(parseAnswer(Buffer.concat(pieces).toString("latin1"), kubelet));
    };
    socket.on("error", reject);
    socket.on("data", (piece: Buffer) => {
      pieces.push(piece);
      const text = Buffer.concat(pieces).toString("latin1");
      if (isTranslated && text.endsWith(closeFrame)) finish();
      else if (text.startsWith("HTTP/1.1 101 ")) {
        if (expected === undefined) setTimeout(finish, isTranslated ? translatedMs : upgradedMs);
        else if (parseAnswer(text, kubelet).body.length >= expected.length) setTimeout(finish, upgradedMs);
      } else if (isWhole(text, method)) finish();
    });
    socket.setTimeout(answerMsMax, finish);
    socket.on("close", finish);
    const closing = headers.connection === undefined ? { connection: "close", ...headers } : headers;
    const lines = Object.entries({ host: "server", ...closing }).map(([name, value]) => `${name}: ${value}`);
    const length = method === "POST" || method === "PUT" || method === "PATCH" ? ["content-length: 0"] : [];
    socket.write(
      `${method} /api/v1/namespaces/default/pods/${path} HTTP/1.1\r\n${[...lines, ...length].join("\r\n")}\r\n\r\n`,
    );
  });
}

/** The answer of a connection that stays open without the end of a response. */
const answerMsMax = 3000;

function isWhole(text: string, method: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return false;
  const head = text.slice(0, end).toLowerCase();
  if (method === "HEAD" || /^http\/1.1 (204|304) /.test(head)) return true;
  if (head.includes("transfer-encoding: chunked")) return text.endsWith("\r\n0\r\n\r\n");
  const length = /content-length: (\d+)/.exec(head)?.[1];
  return length !== undefined && text.length >= end + 4 + Number(length);
}

/** Headers that differ between requests, or between connections and servers. */
const unstable = new Set([
  "date",
  "audit-id",
  "x-kubernetes-pf-flowschema-uid",
  "x-kubernetes-pf-prioritylevel-uid",
  "connection",
  "keep-alive",
  "transfer-encoding",
  "content-length",
]);

function parseAnswer(text: string, { host, port }: Address): KubeletAnswer {
  const end = text.indexOf("\r\n\r\n");
  const [first = "", ...lines] = text.slice(0, Math.max(end, 0)).split("\r\n");
  const all = lines.map((line): [string, string] => {
    const [name = "", ...value] = line.split(":");
    return [name.toLowerCase(), value.join(":").trim()];
  });
  const chunked = all.some(([name, value]) => name === "transfer-encoding" && value === "chunked");
  const body = text.slice(end + 4);
  const shown = (chunked ? joinChunks(body) : body)
    .replaceAll(`${host}:${port}`, recordedAddress)
    .replaceAll(host, "HOST");
  return {
    status: Number(first.split(" ")[1] ?? 0),
    headers: Object.fromEntries(all.filter(([name]) => !unstable.has(name)).sort()),
    body: shown.replace(/127\.0\.0\.1:\d+->/g, "").replace(/[\d.]+:\d+->/g, "LOCAL->"),
  };
}

function joinChunks(body: string): string {
  let [rest, joined] = [body, ""];
  for (;;) {
    const end = rest.indexOf("\r\n");
    const length = Number.parseInt(rest.slice(0, end), 16);
    if (end < 0 || !(length > 0)) return joined;
    joined += rest.slice(end + 2, end + 2 + length);
    rest = rest.slice(end + 4 + length);
  }
}
