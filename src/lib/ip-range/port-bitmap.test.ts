import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { candidatePorts, PortBitmap } from "./port-bitmap.ts";

interface Snapshot {
  readonly size: number;
  readonly ports: readonly number[];
  readonly data: string;
}

const rows = readFileSync(join(import.meta.dirname, "testdata/port-snapshots.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Snapshot);

for (const { size, ports, data } of rows) {
  test(`${ports.length} of ${size} ports have upstream's snapshot`, () => {
    const range = { first: 0, last: size - 1 };
    const bitmap = new PortBitmap(range);
    for (const port of ports) assert.equal(bitmap.add(port), true);
    assert.equal(bitmap.snapshot().toString("base64"), data);
    const restored = new PortBitmap(range, Buffer.from(data, "base64"));
    assert.deepEqual([...restored], ports);
    for (const port of ports) restored.delete(port);
    assert.equal(restored.snapshot().length, 0);
  });
}

test("a port is added once, and never outside of the range", () => {
  const bitmap = new PortBitmap({ first: 100, last: 110 });
  assert.deepEqual(
    [100, 100, 99, 111, 110].map((port) => bitmap.add(port)),
    [true, false, false, false, true],
  );
  assert.deepEqual(
    [99, 100, 110, 111].map((port) => bitmap.has(port)),
    [false, true, true, false],
  );
  bitmap.delete(111);
  assert.deepEqual([...bitmap], [100, 110]);
});

const bands: [first: number, last: number, low: number][] = [
  [30000, 32767, 86],
  [30000, 30015, 0],
  [30000, 30031, 16],
  [1, 65535, 128],
];

for (const [first, last, low] of bands) {
  test(`of the ports ${first} to ${last}, ${low} are searched last`, () => {
    const found = [...candidatePorts({ first, last }, (below) => below - 1)];
    const size = last - first + 1;
    assert.equal(new Set(found).size, size);
    assert.deepEqual([found[0], found[1]], [last, first + low]);
    assert.ok(found.slice(0, size - low).every((port) => port >= first + low));
  });
}
