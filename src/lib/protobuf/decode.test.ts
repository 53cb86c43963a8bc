import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinSchema } from "../../resource/builtin-schemas.ts";
import { seededRandom } from "../../testing/seeded-random.ts";
import { JsonSyntaxError } from "../json/syntax-error.ts";
import { conform, DecodeError } from "../schema/decode.ts";
import { decodeProtobuf } from "./decode.ts";
import { readEnvelope } from "./envelope.ts";
import { ProtobufError } from "./reader.ts";

type Part = [field: number, value: string | number | bigint | Buffer | Part[]];

/** A message of length-delimited fields and varints. */
function message(parts: Part[]): Buffer {
  return Buffer.concat(
    parts.map(([field, value]) => {
      if (typeof value === "number" || typeof value === "bigint") return Buffer.concat([varint(field * 8), varint(value)]);
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

const rows: [what: string, definition: string, parts: Part[], want: object][] = [
  [
    "maps, also of bytes; empty texts are absent",
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
    "quantities come out canonical",
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
for (const [what, definition, parts, want] of rows) {
  test(what, () => {
    const schema = builtinSchema(definition);
    assert.deepEqual(conform(decodeProtobuf(message(parts), schema), schema).object, want);
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

const refused: [what: string, bytes: Buffer][] = [
  ["cut off in a length", Buffer.from([0x0a, 0x05, 0x01])],
  ["cut off in a varint", Buffer.from([0x20, 0x80])],
  ["a group", Buffer.from([0x0b])],
  ["field number 0", Buffer.from([0x02, 0x00])],
  ["another wire type", Buffer.from([0x20 | 2, 0x01, 0x61])],
  ["an endless varint", Buffer.alloc(20, 0xff)],
];
for (const [what, bytes] of refused)
  test(`refused: ${what}`, () => assert.throws(() => decodeProtobuf(bytes, builtinSchema(`${core}.ConfigMap`)), ProtobufError));

const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
test(`whatever the bytes, nothing but a refusal (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const schema = builtinSchema(`${core}.Pod`);
  for (let round = 0; round < 3000; round++) {
    const bytes = Buffer.from(Array.from({ length: random(60) }, () => random(256)));
    try {
      conform(decodeProtobuf(bytes, schema), schema);
    } catch (error) {
      assert.ok(error instanceof ProtobufError || error instanceof DecodeError || error instanceof JsonSyntaxError, String(error));
    }
  }
});
