import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { PortBitmap } from "../lib/ip-range/port-bitmap.ts";
import { encodeProtobuf } from "../lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../lib/protobuf/envelope.ts";
import { DamagedRecord } from "../storage/contract.ts";
import type { SharedEncoding } from "./contract.ts";
import { decodeNodePorts, encodeNodePorts, nodePortsKey } from "./node-port-range.ts";

const bitmap = new PortBitmap({ first: 30000, last: 32767 });
for (const port of [30000, 30009, 32767]) bitmap.add(port);
const decode = (value: Buffer): PortBitmap => decodeNodePorts({ key: nodePortsKey, revision: 1, value });

/** As kube-apiserver stores it. */
const inProtobuf = (object: object): Buffer =>
  wrapInEnvelope("v1", "RangeAllocation", encodeProtobuf(object, builtinSchema("io.k8s.api.core.v1.RangeAllocation")));

const data = bitmap.snapshot().toString("base64");
const rows: [title: string, value: Buffer][] = [
  ["JSON", encodeNodePorts(bitmap).value],
  [
    "kube-apiserver's JSON",
    Buffer.from(
      JSON.stringify({ kind: "RangeAllocation", apiVersion: "v1", metadata: {}, range: "30000-32767", data }),
    ),
  ],
  ["kube-apiserver's protobuf", inProtobuf({ metadata: {}, range: "30000-32767", data })],
];

for (const [title, value] of rows) {
  test(`reads the ports in use as ${title}`, () => {
    const ports = decode(value);
    assert.deepEqual(ports.range, bitmap.range);
    assert.deepEqual([...ports], [30000, 30009, 32767]);
  });
}

const encodings: [mediaType: SharedEncoding["mediaType"], start: string][] = [
  ["application/vnd.kubernetes.protobuf", "k8s\0"],
  ["application/yaml", "apiVersion: v1"],
];
for (const [mediaType, start] of encodings) {
  test(`a shared store has the ports in use as ${mediaType}`, () => {
    const { shared } = encodeNodePorts(bitmap, { sharedEncoding: { mediaType, customCbor: false } });
    assert.equal(shared?.subarray(0, start.length).toString(), start);
    assert.deepEqual([...decode(shared)], [30000, 30009, 32767]);
  });
}

test("a shared store has the ports in use as JSON", () => {
  const { shared } = encodeNodePorts(bitmap, { sharedEncoding: { mediaType: "application/json", customCbor: false } });
  assert.equal(shared, undefined);
});

test("a range without ports in use has no data", () => {
  const empty = JSON.stringify({ range: "1-8", data: null });
  assert.deepEqual([...decode(Buffer.from(empty))], []);
  assert.match(encodeNodePorts(new PortBitmap({ first: 1, last: 8 })).value.toString(), /"data":""/);
});

const damaged: [title: string, value: string][] = [
  ["no JSON", "{"],
  ["no range", "{}"],
  ["another range", '{"range":"a-b"}'],
  ["cut protobuf", `${inProtobuf({ range: "1-8", data }).subarray(0, 20).toString("latin1")}`],
];

for (const [title, value] of damaged) {
  test(`reports a damaged value: ${title}`, () =>
    assert.throws(() => decode(Buffer.from(value, "latin1")), DamagedRecord));
}
