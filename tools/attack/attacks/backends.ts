/** Webhooks and kubelets whose answers no server should pass on. */
import { networkInterfaces } from "node:os";
import type { Attack, Sent } from "../contract.ts";
import { type RawBackend, startRawBackend } from "../raw-backend.ts";
import type { Target } from "../target.ts";

/** The server must answer with a status that HTTP/1.1 can carry: as kube-apiserver, it passes on those up to 999. */
function checkError(status: number, text: string): void {
  if (status < 200 || status > 999) throw new Error(`answered ${status}: ${text.slice(0, 300)}`);
}

/** Each attack creates and deletes a webhook or a pod. */
const bound = { cpuMs: 100, cpuMsPer100KB: 5 };
const configurations = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";

/** Codes of the Status in a denial. */
const codes: readonly (number | string)[] = [0, 99, 199, 204, 304, 599, 600, 1000, -1, 1e9, "1e400", '"200"', "null"];

const webhooks: readonly Attack[] = codes.map((code) => ({
  group: "a",
  name: `a webhook denies with the code ${code}`,
  size: 1,
  bound,
  run: (target) => withBackend("127.0.0.1", denial(code), (backend) => deny(target, backend)),
}));

function denial(code: number | string): (request: { readonly body: string }) => string {
  return ({ body }) => {
    const { uid } = JSON.parse(body).request;
    const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"${uid}","allowed":false,"status":{"code":${code},"message":"no"}}}`;
    return `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${review.length}\r\nConnection: close\r\n\r\n${review}`;
  };
}

async function deny(target: Target, { ca, port }: RawBackend): Promise<Sent> {
  const { namespace } = target;
  const name = `${namespace}.example.com`;
  const webhook = {
    name,
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url: `https://127.0.0.1:${port}/`, caBundle: Buffer.from(ca).toString("base64") },
    rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["secrets"] }],
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
  };
  await target.send({ method: "POST", path: configurations, body: { metadata: { name }, webhooks: [webhook] } });
  try {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const { status, text, sentBytes } = await target.send({
        method: "POST",
        path: `/api/v1/namespaces/${namespace}/secrets?dryRun=All`,
        body: { metadata: { name: "s" } },
      });
      checkError(status, text);
      if (status !== 201) return { bytes: sentBytes, answer: String(status) };
      await new Promise((resolve) => setTimeout(resolve, 100)); // The server does not call the webhook yet.
    }
    throw new Error("the server does not call the webhook");
  } finally {
    await target.send({ method: "DELETE", path: `${configurations}/${name}` });
  }
}

const attemptsMax = 50;

const head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
const answers: readonly [group: string, name: string, text: string][] = [
  ...["000", "099", "101", "204", "304", "600", "999", "1000", "abc"].map((status): [string, string, string] => [
    "b",
    `status ${status}`,
    `HTTP/1.1 ${status} X\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno`,
  ]),
  ["j", "two content types", `${head}Content-Type: text/plain\r\nContent-Type: text/html\r\n\r\nlog`],
  ["j", "HTTP2-Settings", `${head}HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\nlog`],
  [
    "j",
    "headers of the connection",
    `${head}Keep-Alive: x\r\nUpgrade: x\r\nProxy-Connection: x\r\nTransfer-Encoding: gzip\r\n\r\nlog`,
  ],
  ["j", "a header with a character of Latin-1", `${head}X-A: \xe9\xff\r\n\r\nlog`],
  ["j", "a header with a control character", `${head}X-A: a\x01b\r\n\r\nlog`],
  ["j", "a name with a space", `${head}X A: b\r\n\r\nlog`],
  ["j", "two lengths", `${head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nlog`],
  ["j", "pseudo headers", `${head}:status: 200\r\n\r\nlog`],
  [
    "j",
    "thousands of headers",
    `${head}${Array.from({ length: 1_500 }, (_, index) => `X-${index}: a\r\n`).join("")}\r\nlog`,
  ],
  ["j", "an endless reason", `HTTP/1.1 200 ${"x".repeat(50_000)}\r\n\r\nlog`],
  ["j", "no answer", ""],
  ["j", "half an answer", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nlog"],
  ["j", "bytes that are not HTTP", "\x00\x01\x02\x03"],
];

const kubelets: readonly Attack[] = answers.map(([group, name, text]) => ({
  group,
  name: `a kubelet answers with ${name}`,
  size: 1,
  bound,
  run: (target) =>
    withBackend(
      reachableAddress(),
      () => text,
      (backend) => readLog(target, backend),
    ),
}));

/** Servers do not connect to loopback addresses of nodes. */
function reachableAddress(): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  const found = addresses.find(({ family, internal }) => family === "IPv4" && !internal);
  if (found === undefined) throw new Error("this machine has no address that the server accepts for a kubelet");
  return found.address;
}

async function readLog(target: Target, { port }: RawBackend): Promise<Sent> {
  const name = `${target.namespace}-${port}`;
  const status = {
    addresses: [{ type: "InternalIP", address: reachableAddress() }],
    daemonEndpoints: { kubeletEndpoint: { Port: port } },
  };
  const spec = { nodeName: name, containers: [{ name: "c", image: "i" }], automountServiceAccountToken: false };
  const pods = `/api/v1/namespaces/${target.namespace}/pods`;
  const account = { method: "POST", path: `/api/v1/namespaces/${target.namespace}/serviceaccounts` };
  await target.send({ ...account, body: { metadata: { name: "default" } } });
  await target.send({ method: "POST", path: "/api/v1/nodes", body: { metadata: { name }, status } });
  await target.send({ method: "POST", path: pods, body: { metadata: { name }, spec } });
  try {
    const answer = await target.send({ path: `${pods}/${name}/log` });
    checkError(answer.status, answer.text);
    return { bytes: answer.sentBytes, answer: String(answer.status) };
  } finally {
    await target.send({ method: "DELETE", path: `${pods}/${name}?gracePeriodSeconds=0` });
    await target.send({ method: "DELETE", path: `/api/v1/nodes/${name}` });
  }
}

async function withBackend(
  host: string,
  answer: (request: { readonly body: string }) => string,
  use: (backend: RawBackend) => Promise<Sent>,
): Promise<Sent> {
  const backend = await startRawBackend(host, answer);
  try {
    return await use(backend);
  } finally {
    await backend.close();
  }
}

/** They need a server that reaches this machine. */
export const backendAttacks: readonly Attack[] = [...webhooks, ...kubelets];
