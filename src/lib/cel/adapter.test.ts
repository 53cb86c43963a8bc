/** The line protocol of tools/cel-adapter.ts. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

const adapter = join(import.meta.dirname, "../../../tools/cel-adapter.ts");
const uint64Max = "18446744073709551615";

const rows: [input: string, output: string][] = [
  ['{"id":1,"expr":"1 + 2"}', '{"id":1,"value":{"int":"3"},"cost":{"min":1,"max":1,"actual":1}}'],
  [
    '{"id":"a","expr":"9007199254740993 - 1"}',
    '{"id":"a","value":{"int":"9007199254740992"},"cost":{"min":1,"max":1,"actual":1}}',
  ],
  [
    '{"id":2,"expr":"x + 1u","bindings":{"x":{"uint":"18446744073709551614"}}}',
    `{"id":2,"value":{"uint":"${uint64Max}"},"cost":{"min":2,"max":2,"actual":2}}`,
  ],
  [
    '{"id":3,"expr":"x / 0.0","bindings":{"x":{"double":"-1"}}}',
    '{"id":3,"value":{"double":"-Infinity"},"cost":{"min":2,"max":2,"actual":2}}',
  ],
  [
    '{"id":4,"expr":"[x, y]","bindings":{"x":{"bytes":"YQ=="},"y":{"null":true}}}',
    '{"id":4,"value":{"list":[{"bytes":"YQ=="},{"null":true}]},"cost":{"min":12,"max":12,"actual":12}}',
  ],
  [
    '{"id":5,"expr":"{\'a\': x, \'b\': x}","bindings":{"x":{"list":[{"bool":true},{"type":"int"}]}}}',
    '{"id":5,"value":{"map":[[{"string":"a"},{"list":[{"bool":true},{"type":"int"}]}],[{"string":"b"},{"list":[{"bool":true},{"type":"int"}]}]]},"cost":{"min":32,"max":32,"actual":32}}',
  ],
  [
    '{"id":6,"expr":"m[1]","bindings":{"m":{"map":[[{"int":"1"},{"bytes":"YQ=="}]]}}}',
    '{"id":6,"value":{"bytes":"YQ=="},"cost":{"min":2,"max":2,"actual":2}}',
  ],
  [
    '{"id":7,"expr":"t + d","bindings":{"t":{"opaque":"google.protobuf.Timestamp","text":"2024-01-01T00:00:00Z"},"d":{"opaque":"google.protobuf.Duration","text":"90s"}}}',
    '{"id":7,"value":{"opaque":"google.protobuf.Timestamp","text":"2024-01-01T00:01:30Z"},"cost":{"min":2,"max":1844674407370955266,"actual":3}}',
  ],
  [
    '{"id":8,"expr":"[optional.of(1), optional.none()]"}',
    '{"id":8,"value":{"list":[{"opaque":"optional_type","text":"{\\"int\\":\\"1\\"}"},{"opaque":"optional_type","text":"none"}]},"cost":{"min":12,"max":12,"actual":12}}',
  ],
  [
    '{"id":9,"expr":"x.y","bindings":{"x":{"map":[]}}}',
    '{"id":9,"error":"no such key: y","cost":{"min":1,"max":1,"actual":2}}',
  ],
  [
    '{"id":10,"expr":"x.a.all(y, y > 1)","bindings":{"x":{"map":[[{"string":"a"},{"list":[{"int":"2"},{"int":"3"}]}]]}},"disableCheck":true}',
    '{"id":10,"value":{"bool":true},"cost":{"min":2,"max":2,"actual":13}}',
  ],
  [
    '{"id":11,"expr":"[1, \'a\']","disableCheck":true}',
    '{"id":11,"value":{"list":[{"int":"1"},{"string":"a"}]},"cost":{"min":10,"max":10,"actual":0}}',
  ],
  ['{"id":12,"expr":"x +"}', '{"id":12,"error":"ERROR: <input>:1:4: Syntax error'],
  [
    '{"id":13,"expr":"x","bindings":{"x":{"int":"9223372036854775808"}}}',
    '{"id":13,"error":"not a tagged value: {\\"int\\":\\"9223372036854775808\\"}"}',
  ],
  [
    '{"id":14,"expr":"q.add(quantity(\'500m\'))","bindings":{"q":{"opaque":"kubernetes.Quantity","text":"1"}}}',
    '{"id":14,"value":{"opaque":"kubernetes.Quantity","text":"1500m"},"cost":{"min":3,"max":3,"actual":3}}',
  ],
  [
    '{"id":15,"expr":"[i.family() == 4, c.containsIP(i)]","bindings":{"i":{"opaque":"net.IP","text":"10.1.2.3"},"c":{"opaque":"net.CIDR","text":"10.0.0.0/8"}}}',
    '{"id":15,"value":{"list":[{"bool":true},{"bool":true}]},"cost":',
  ],
  ['{"id":16,"expr":"x","bindings":{"x":{"opaque":"net.IP","text":"x"}}}', '{"id":16,"error":"IP Address'],
  ["nonsense", '{"id":null,"error":"'],
];

test("returns one result per line, in order", () => {
  const output = execFileSync(process.execPath, [adapter], {
    input: rows.map(([input]) => `${input}\n`).join(""),
    encoding: "utf8",
  });
  const lines = output.trimEnd().split("\n");
  assert.equal(lines.length, rows.length);
  for (const [index, [input, expected]] of rows.entries()) {
    const actual = lines[index] as string;
    if (expected.endsWith("}")) assert.equal(actual, expected, input);
    else assert.ok(actual.startsWith(expected), `${input}: ${actual}`);
  }
});
