import assert from "node:assert/strict";
import { test } from "node:test";
import { randomObject } from "../../../test/support/random-object.ts";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { JsonSyntaxError } from "../json/syntax-error.ts";
import { conform, DecodeError } from "../schema/decode.ts";
import type { Struct } from "../schema/schema.ts";
import { decodeProtobuf } from "./decode.ts";
import { encodeProtobuf } from "./encode.ts";
import { readEnvelope } from "./envelope.ts";
import { ProtobufError } from "./reader.ts";

type Part = [field: number, value: string | number | bigint | Buffer | Part[]];

/** A message of length-delimited fields and varints. */
function message(parts: Part[]): Buffer {
  return Buffer.concat(
    parts.map(([field, value]) => {
      if (typeof value === "number" || typeof value === "bigint")
        return Buffer.concat([varint(field * 8), varint(value)]);
      const bytes = Array.isArray(value) ? message(value) : Buffer.from(value as string);
      return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
    }),
  );
}

function varint(value: number | bigint): Buffer {
  let rest = BigInt.asUintN(64, BigInt(value));
  const bytes: number[] = [];
  do {
    bytes.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(bytes);
}

const core = "io.k8s.api.core.v1";
const meta = "io.k8s.apimachinery.pkg.apis.meta.v1";

const rows: [what: string, definition: string, parts: Part[], expected: object][] = [
  [
    "maps, also of bytes; empty strings are absent",
    `${core}.ConfigMap`,
    [
      [
        1,
        [
          [1, "a"],
          [3, ""],
          [7, 0],
          [8, []],
        ],
      ],
      [
        2,
        [
          [1, "k"],
          [2, "v"],
        ],
      ],
      [
        2,
        [
          [1, "__proto__"],
          [2, ""],
        ],
      ],
      [
        3,
        [
          [1, "b"],
          [2, Buffer.from([1, 2])],
        ],
      ],
      [4, 0],
    ],
    { metadata: { name: "a" }, data: { k: "v", ["__proto__"]: "" }, binaryData: { b: "AQI=" }, immutable: false },
  ],
  [
    "embedded structs",
    `${core}.Volume`,
    [
      [1, "v"],
      [
        2,
        [
          [
            2,
            [
              [1, "Memory"],
              [2, [[1, "1000Mi"]]],
            ],
          ],
        ],
      ],
    ],
    { name: "v", emptyDir: { medium: "Memory", sizeLimit: "1000Mi" } },
  ],
  [
    "quantities become canonical",
    `${core}.ResourceRequirements`,
    [
      [
        1,
        [
          [1, "cpu"],
          [2, [[1, "1000m"]]],
        ],
      ],
    ],
    { limits: { cpu: "1" } },
  ],
  [
    "int or string",
    `${core}.ServicePort`,
    [
      [1, "p"],
      [3, 80],
      [
        4,
        [
          [1, 1],
          [2, 0],
          [3, "http"],
        ],
      ],
    ],
    { name: "p", port: 80, targetPort: "http" },
  ],
  [
    "int, and negative numbers",
    `${core}.ServicePort`,
    [
      [3, -1n],
      [
        4,
        [
          [1, 0],
          [2, 8080],
          [3, ""],
        ],
      ],
    ],
    { port: -1, targetPort: 8080 },
  ],
  ["int64 beyond 2^53", `${meta}.ObjectMeta`, [[7, 9007199254740993n]], { generation: 9007199254740993n }],
  [
    "times",
    `${meta}.ObjectMeta`,
    [
      [
        8,
        [
          [1, 1700000000],
          [2, 0],
        ],
      ],
    ],
    { creationTimestamp: "2023-11-14T22:13:20Z" },
  ],
  [
    "micro times",
    "io.k8s.api.coordination.v1.LeaseSpec",
    [
      [
        4,
        [
          [1, 1700000000],
          [2, 1234000],
        ],
      ],
    ],
    { renewTime: "2023-11-14T22:13:20.001234Z" },
  ],
  [
    "lists of texts",
    `${meta}.ObjectMeta`,
    [
      [14, "a"],
      [14, "b"],
    ],
    { finalizers: ["a", "b"] },
  ],
  [
    "JSON inside",
    `${meta}.ManagedFieldsEntry`,
    [
      [1, "m"],
      [7, [[1, '{"f:data":{}}']]],
    ],
    { manager: "m", fieldsV1: { "f:data": {} } },
  ],
  [
    "unknown fields are skipped",
    `${core}.ConfigMap`,
    [
      [99, "x"],
      [98, 5],
      [4, 1],
    ],
    { immutable: true },
  ],
];
for (const [what, definition, parts, expected] of rows) {
  test(what, () => {
    const schema = builtinSchema(definition);
    assert.deepEqual(conform(decodeProtobuf(message(parts), schema), schema).object, expected);
  });
}

test("the envelope names the kind", () => {
  const bytes = Buffer.concat([
    Buffer.from("k8s\0"),
    message([
      [
        1,
        [
          [1, "v1"],
          [2, "ConfigMap"],
        ],
      ],
      [2, "raw"],
      [3, ""],
      [4, ""],
    ]),
  ]);
  const { apiVersion, kind, raw } = readEnvelope(bytes);
  assert.deepEqual([apiVersion, kind, raw.toString()], ["v1", "ConfigMap", "raw"]);
});

const rejected: [what: string, bytes: Buffer][] = [
  ["cut off in a length", Buffer.from([0x0a, 0x05, 0x01])],
  ["cut off in a varint", Buffer.from([0x20, 0x80])],
  ["a group", Buffer.from([0x0b])],
  ["field number 0", Buffer.from([0x02, 0x00])],
  ["another wire type", Buffer.from([0x20 | 2, 0x01, 0x61])],
  ["an endless varint", Buffer.alloc(20, 0xff)],
];
for (const [what, bytes] of rejected)
  test(`rejects ${what}`, () =>
    assert.throws(() => decodeProtobuf(bytes, builtinSchema(`${core}.ConfigMap`)), ProtobufError));

/** Results of upstream's generated code. */
const messages: [what: string, definition: string, hex: string, expected: string | object][] = [
  ["a field number of more than 29 bits is unknown", `${core}.ConfigMap`, "808080801000", {}],
  ["a field number is truncated to 32 bits", `${core}.ConfigMap`, "a0808080800101", { immutable: true }],
  ["field number 0", `${core}.ConfigMap`, "0200", "proto: ConfigMap: illegal tag 0 (wire type 2)"],
  [
    "a negative field number",
    `${meta}.ObjectMeta`,
    "fffeffffffffffff7f",
    "proto: ObjectMeta: illegal tag -17 (wire type 9223372036854775679)",
  ],
  ["the end of a group", `${core}.ConfigMap`, "0c", "proto: ConfigMap: wiretype end group for non-group"],
  [
    "the end of a group with the number of a declared field",
    `${core}.ConfigMap`,
    "24",
    "proto: ConfigMap: wiretype end group for non-group",
  ],
  ["another wire type", `${core}.ConfigMap`, "220161", "proto: wrong wireType = 2 for field Immutable"],
  [
    "another wire type of a field with capitals",
    `${meta}.ObjectMeta`,
    "2800",
    "proto: wrong wireType = 0 for field UID",
  ],
  ["another wire type in a time", `${meta}.ObjectMeta`, "42030a0161", "proto: wrong wireType = 2 for field Seconds"],
  [
    "another wire type in a quantity",
    `${core}.EmptyDirVolumeSource`,
    "12020801",
    "proto: wrong wireType = 0 for field String_",
  ],
  [
    "spaces around a quantity, which only JSON can have",
    `${core}.EmptyDirVolumeSource`,
    "12040a022031",
    /^quantities must match the regular expression/,
  ],
  ["an unknown field of a time", `${meta}.ObjectMeta`, "420408011801", { creationTimestamp: "1970-01-01T00:00:01Z" }],
];
for (const [what, definition, hex, expected] of messages) {
  test(`like upstream: ${what}`, () => {
    const schema = builtinSchema(definition);
    const read = (): object => conform(decodeProtobuf(Buffer.from(hex, "hex"), schema), schema).object;
    if (expected instanceof RegExp) assert.throws(read, { message: expected });
    else if (typeof expected === "string") assert.throws(read, { name: "ProtobufError", message: expected });
    else assert.deepEqual(read(), expected);
  });
}

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 1_000_000 : 2000;
const kinds = ["Pod", "ConfigMap", "Node", "Event", "Service"].map((kind) => builtinSchema(`${core}.${kind}`));
kinds.push(
  builtinSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"),
  builtinSchema(`${meta}.DeleteOptions`),
);

test(`decodes or rejects corrupted messages (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  let message: Buffer = Buffer.alloc(0);
  let schema = kinds[0] as Struct;
  let read = 0;
  for (let round = 0; round < rounds; round++) {
    if (round % 50 === 0) {
      schema = kinds[random(kinds.length)] as Struct;
      message = encodeProtobuf(randomObject(schema, random), schema);
    }
    try {
      conform(decodeProtobuf(round % 5 === 0 ? noise(random) : damage(message, random), schema), schema);
      read++;
    } catch (error) {
      assert.ok(
        error instanceof ProtobufError || error instanceof DecodeError || error instanceof JsonSyntaxError,
        String(error),
      );
    }
  }
  assert.ok(read > rounds / 100, "some of them are still messages");
});

function noise(random: (below: number) => number): Buffer {
  return Buffer.from(Array.from({ length: random(60) }, () => random(256)));
}

/** Flips, cuts, repeats or moves some bytes. */
function damage(message: Buffer, random: (below: number) => number): Buffer {
  let bytes: Buffer = Buffer.from(message);
  for (let times = 1 + random(3); times > 0 && bytes.length > 0; times--) {
    const at = random(bytes.length);
    const some = bytes.subarray(at, at + random(20));
    const to = random(bytes.length);
    const kind = random(4);
    if (kind === 0) bytes[at] = random(256);
    else if (kind === 1) bytes = bytes.subarray(0, at);
    else
      bytes = Buffer.concat([
        bytes.subarray(0, to),
        some,
        bytes.subarray(kind === 2 ? to : Math.min(to + some.length, bytes.length)),
      ]);
  }
  return bytes;
}

const hostile: [what: string, definition: string, bytes: Buffer][] = [
  [
    "too many nested messages",
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps",
    nested(28, 5000),
  ],
  ["too many nested groups", `${core}.ConfigMap`, Buffer.alloc(100_000, 0x0b)],
  ["a length of eight exabytes", `${core}.ConfigMap`, Buffer.from("0affffffffffffffff7f", "hex")],
  ["a negative length", `${core}.ConfigMap`, Buffer.from("0affffffffffffffffff01", "hex")],
];
for (const [what, definition, bytes] of hostile)
  test(`rejects ${what}`, () => assert.throws(() => decodeProtobuf(bytes, builtinSchema(definition)), ProtobufError));

/** A message in a message in a message, each a field of the same number. */
function nested(field: number, depth: number): Buffer {
  let bytes: Buffer = Buffer.alloc(0);
  for (; depth > 0; depth--) bytes = Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes]);
  return bytes;
}

test("decodes many strings of one message in linear time", () => {
  const texts = Array.from({ length: 200_000 }, (): Part => [1, ""]);
  const user = decodeProtobuf(
    message([
      [
        4,
        [
          [1, "k"],
          [2, texts],
        ],
      ],
    ]),
    builtinSchema("io.k8s.api.authentication.v1.UserInfo"),
  );
  assert.equal((user.extra as Record<string, string[]>).k?.length, 200_000);
});
