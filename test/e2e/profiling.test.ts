/** Profiles of the process, and the level of its log, over HTTP. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { decodeMessage } from "../../src/lib/grpc/codec.ts";
import { pprofMessage } from "../../src/lib/pprof/pprof.ts";
import { type Answer, type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const verbosity = { level: 0, modules: [] };
const lines: string[] = [];

let server: TestServer;
let client: RawClient;

before(async () => {
  const logger = {
    info: (message: string, values: object = {}) => void lines.push(`${message} ${JSON.stringify(values)}`),
    warn() {},
    error() {},
  };
  server = await startTestServer({ profiling: true, verbosity, logger });
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

interface Decoded {
  readonly sampleType: readonly { readonly type: number; readonly unit: number }[];
  readonly sample?: readonly { readonly locationId: readonly number[]; readonly value: readonly number[] }[];
  readonly location?: readonly unknown[];
  readonly stringTable: readonly string[];
}

/** The types of the values of a profile, and its samples. */
function decoded({ status, headers, bytes }: Answer): { types: string[]; samples: NonNullable<Decoded["sample"]> } {
  assert.equal(status, 200);
  assert.equal(headers["content-type"], "application/octet-stream");
  const { sampleType, sample = [], stringTable } = decodeMessage<Decoded>(pprofMessage, gunzipSync(bytes));
  return { types: sampleType.map(({ type, unit }) => `${stringTable[type]}/${stringTable[unit]}`), samples: sample };
}

test("profiles are recorded one at a time", async () => {
  const first = client.send({ path: "/debug/pprof/allocs?seconds=1" });
  const others = await Promise.all([1, 2].map(() => client.send({ path: "/debug/pprof/profile?seconds=1" })));
  assert.deepEqual(
    others.map(({ status, text }) => [status, text]),
    others.map(() => [500, "Could not enable profiling: a profile is being recorded\n"]),
  );
  const { types, samples } = decoded(await first);
  assert.deepEqual(types, ["alloc_space/bytes"]);
  for (const { value, locationId } of samples) assert.ok((value[0] as number) > 0 && locationId.length > 0);
});

test("a profile of the processor has samples with stacks", async () => {
  const recorded = client.send({ path: "/debug/pprof/profile?seconds=1" });
  for (let at = 0; at < 200; at++) await client.send({ path: "/api/v1/namespaces" });
  const { types, samples } = decoded(await recorded);
  assert.deepEqual(types, ["samples/count", "cpu/nanoseconds"]);
  assert.ok(samples.length > 0);
  for (const { value, locationId } of samples) assert.ok((value[0] as number) > 0 && locationId.length > 0);
});

for (const [name, isHere] of [
  ["goroutine", true],
  ["threadcreate", process.platform === "linux"],
] as const)
  test(`${name} counts without a stack`, { skip: !isHere }, async () => {
    const { types, samples } = decoded(await client.send({ path: `/debug/pprof/${name}` }));
    assert.deepEqual(types, [`${name}/count`]);
    assert.ok(samples.length > 0);
    for (const { value, locationId } of samples) assert.ok((value[0] as number) > 0 && locationId.length === 1);
  });

const rows: readonly (readonly [path: string, status: number, text: RegExp])[] = [
  ["/debug/pprof", 302, /Found/],
  ["/debug/pprof/", 200, /<a href="heap">heap<\/a>/],
  ["/debug/pprof/cmdline", 200, /\0/],
  ["/debug/pprof/symbol", 200, /^num_symbols: 0\n$/],
  [
    "/debug/pprof/goroutine?debug=1",
    200,
    /^goroutine profile: total [1-9]\d*\n(?:[1-9]\d* @ \w+\n)*[1-9]\d* @ TCPS\w+\n/,
  ],
  ["/debug/pprof/mutex", 501, /^Node\.js has no profile of locks\n$/],
  ["/debug/pprof/other", 404, /^Unknown profile\n$/],
];
for (const [path, status, text] of rows)
  test(`${path} is answered with ${status}`, async () => {
    const answer = await client.send({ path });
    assert.equal(answer.status, status);
    assert.match(answer.text, text);
  });

test("a user without the right to the path gets no profile", async () => {
  const other = rawClient((await server.as("someone")).kubeconfig);
  for (const path of ["/debug/pprof/cmdline", "/debug/pprof/profile", "/debug/flags/v"])
    assert.equal((await other.send({ path })).status, 403);
  other.close();
});

test("without profiling, the paths do not exist", async () => {
  const plain = await startTestServer({ profiling: false, verbosity });
  const other = rawClient(plain.kubeconfig);
  for (const path of ["/debug/pprof/", "/debug/pprof/heap", "/debug/flags/v"])
    assert.equal((await other.send({ path })).status, 404);
  other.close();
  await plain.close();
});

const levels: readonly (readonly [method: string, body: string, status: number, text: string])[] = [
  ["GET", "", 406, "unsupported http method\n"],
  ["PUT", "x", 400, 'strconv.ParseUint: parsing "x": invalid syntax\n'],
  ["PUT", "", 400, 'strconv.ParseUint: parsing "": invalid syntax\n'],
  ["PUT", "4294967296", 400, 'strconv.ParseUint: parsing "4294967296": value out of range\n'],
  [
    "PUT",
    "3000000000",
    400,
    'failed set klog.logging.verbosity 3000000000: strconv.ParseInt: parsing "3000000000": value out of range\n',
  ],
];
for (const [method, body, status, text] of levels)
  test(`the level of the log: ${method} of "${body}" is answered with ${status}`, async () => {
    const answer = await client.send({ method, path: "/debug/flags/v", ...(body !== "" && { body }) });
    assert.deepEqual([answer.status, answer.text], [status, text]);
  });

test("from level 3 on, each request is logged", async () => {
  const set = (level: string) => client.send({ method: "PUT", path: "/debug/flags/v", body: level });
  assert.equal((await set("3")).text, "successfully set klog.logging.verbosity to 3\n");
  await client.send({ path: "/api/v1/namespaces?limit=1", headers: { "user-agent": "tester" } });
  assert.equal((await set("0")).text, "successfully set klog.logging.verbosity to 0\n");
  const before = lines.length;
  await client.send({ path: "/api/v1/namespaces?limit=1" });
  assert.equal(lines.length, before);
  const line = lines.find((one) => one.startsWith("HTTP ") && one.includes("limit=1")) as string;
  const values = JSON.parse(line.slice("HTTP ".length));
  assert.deepEqual(Object.keys(values), ["verb", "URI", "latency", "userAgent", "audit-ID", "srcIP", "resp"]);
  assert.deepEqual(
    [values.verb, values.URI, values.userAgent, values.resp],
    ["LIST", "/api/v1/namespaces?limit=1", "tester", 200],
  );
  assert.match(values.srcIP, /^127\.0\.0\.1:\d+$/);
});
