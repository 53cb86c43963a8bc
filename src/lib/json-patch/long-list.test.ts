import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { applyJsonPatch, JsonPatchError, type JsonPatchOperation } from "./json-patch.ts";
import { LongList } from "./long-list.ts";

const range = (length: number) => Array.from({ length }, (_, index) => index);

test("a long list has the same items as an array after the same changes", () => {
  const below = seededRandom(1);
  for (const start of [1, 1023, 1024, 1025, 9000]) {
    const array: unknown[] = range(start);
    const list = new LongList(array);
    for (let step = 0; step < 6000; step++) {
      // The list first grows at one position and then shrinks, so that pieces are split and
      // removed.
      const place = below(2) === 0 ? Math.floor(array.length / 3) : below(array.length + 1);
      if (below(10) < (step < 3000 ? 8 : 2)) {
        array.splice(place, 0, step);
        list.insert(place, step);
      } else if (place < array.length) {
        array.splice(place, 1);
        list.remove(place);
      }
      assert.equal(list.length, array.length);
      if (array.length === 0) continue;
      const at = below(array.length);
      assert.equal(list.at(at), array[at]);
      array[at] = -step;
      list.set(at, -step);
    }
    const written: unknown[] = ["before"];
    list.writeTo(written);
    assert.deepEqual(written, array);
  }
});

test("operations on a long list have the same result as on an array", () => {
  const below = seededRandom(2);
  const document = { list: range(6000) as unknown[], other: {} };
  const model = structuredClone(document.list);
  const operations: JsonPatchOperation[] = [];
  for (let step = 0; step < 2000; step++) {
    const at = below(model.length);
    const to = below(model.length);
    const path = `/list/${below(5) === 0 ? at - model.length : at}`;
    const kind = below(6);
    if (kind === 0) {
      operations.push({ op: "add", path: `/list/${at}`, value: { step } });
      model.splice(at, 0, { step });
    } else if (kind === 1) {
      operations.push({ op: "remove", path });
      model.splice(at, 1);
    } else if (kind === 2) {
      operations.push({ op: "replace", path, value: step });
      model[at] = step;
    } else if (kind === 3) {
      operations.push({ op: "move", from: path, path: `/list/${to}` });
      model.splice(to, 0, ...model.splice(at, 1));
    } else if (kind === 4) {
      operations.push({ op: "copy", from: path, path: "/list/-" });
      model.push(structuredClone(model[at]));
    } else {
      operations.push({ op: "test", path, value: structuredClone(model[at]) });
    }
    if (step % 500 === 0) {
      operations.push(
        { op: "test", path: "/list", value: structuredClone(model) },
        { op: "copy", from: "/list", path: "/other/list" },
      );
      operations.push(
        { op: "move", from: "/list", path: "/moved" },
        { op: "test", path: "/other", value: { list: structuredClone(model) } },
      );
      operations.push({ op: "move", from: "/moved", path: "/list" });
    }
  }
  operations.push({ op: "remove", path: "/other/list" });
  assert.deepEqual(applyJsonPatch(document, operations), { list: model, other: {} });
  assert.deepEqual(document.list, range(6000), "the document is left as it is");
  for (const bad of [model.length, -model.length - 1, "x"]) {
    assert.throws(
      () => applyJsonPatch(document, [...operations, { op: "remove", path: `/list/${bad}` }]),
      JsonPatchError,
    );
  }
});

test("ten thousand operations on half a million items use less than 1.5 s of CPU time", () => {
  const document = { list: range(500_000) };
  const operations = range(10_000).map((index) =>
    index % 2 === 0 ? { op: "add", path: "/list/0", value: index } : { op: "remove", path: "/list/250000" },
  );
  const start = process.cpuUsage();
  assert.equal((applyJsonPatch(document, operations) as typeof document).list.length, 500_000);
  const spent = process.cpuUsage(start).user / 1000;
  assert.ok(spent < 1500, `${spent} ms`);
});
