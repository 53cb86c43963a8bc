import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import { scaleColumns } from "../../catalog/common-columns.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { makeEntry } from "../../watch-cache/entry.ts";
import { PieceMemory } from "./piece-memory.ts";
import { tableBody, tableBookmark, tableEvent, tableOfObject, tableOfScale, tablePieces } from "./table.ts";

describe("tables of stored objects", () => {
  const now = Date.UTC(2020, 0, 1);
  let registry: MemoryRegistry;
  before(async () => {
    registry = await openMemoryRegistry({ clock: { now: () => now - 60_000, after: () => () => {} } });
    await registry.create(["/namespaces", ""], { metadata: { name: "ns" } });
    await registry.create(["/configmaps", "ns"], {
      metadata: { name: "a", annotations: { brace: "}" } },
      data: { k: "v" },
    });
    await registry.create(["rbac.authorization.k8s.io/roles", "ns"], { metadata: { name: "r" }, rules: [] });
    await registry.create(["/pods", "ns"], {
      metadata: { name: "p" },
      spec: { containers: [{ name: "c", image: "i" }] },
    });
    await registry.change(["/pods", "ns"], "p", (pod) => Object.assign(pod.status, { phase: "Succeeded" }), "status");
  });
  after(() => registry.close());

  async function find(group: string, resource: string, name: string): Promise<{ resolved: Resolved; entry: Entry }> {
    const resolved = registry.registry.catalog.find(group, "v1", resource) as Resolved;
    const store = resolved.resource.store as ResourceStore;
    return { resolved, entry: (await store.cache.current()).get(store.keyOf("ns", name)) as Entry };
  }

  // biome-ignore lint/suspicious/noExplicitAny: a parsed answer.
  const parse = (json: Buffer): any => JSON.parse(json.toString());

  test("a list has columns, metadata and rows", async () => {
    const { resolved, entry } = await find("", "configmaps", "a");
    const meta = { resourceVersion: "9", continue: "next", remainingItemCount: 1 };
    const table = parse(tableBody([entry, entry], resolved, { version: "v1", includeObject: "Metadata" }, meta, now));
    assert.deepEqual([table.kind, table.apiVersion, table.metadata], ["Table", "meta.k8s.io/v1", meta]);
    assert.deepEqual(
      table.columnDefinitions.map(({ name, type, format, priority }: Record<string, unknown>) => [
        name,
        type,
        format,
        priority,
      ]),
      [
        ["Name", "string", "name", 0],
        ["Data", "string", "", 0],
        ["Age", "string", "", 0],
      ],
    );
    assert.equal(table.rows.length, 2);
    assert.deepEqual(table.rows[0].cells, ["a", 1, "60s"]);
    const { metadata } = parse(entry.json);
    assert.deepEqual(table.rows[0].object, { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata });
  });

  test("a row is made once per entry, however many bytes other entries have", async () => {
    const { resolved, entry } = await find("", "configmaps", "a");
    let made = 0;
    const name: Column = {
      name: "Name",
      type: "string",
      format: "name",
      description: "",
      priority: 0,
      value: () => made++,
    };
    const { definition } = resolved.resource;
    const counted = {
      ...resolved,
      resource: {
        ...resolved.resource,
        definition: { ...definition, strategy: { ...definition.strategy, columns: [name] } },
      },
    };
    const { source } = resolved.resource.store as ResourceStore;
    const large = Buffer.from(JSON.stringify({ metadata: { name: "large" }, data: { k: "v".repeat(1 << 20) } }));
    const entries = Array.from({ length: 40 }, (_, index) =>
      makeEntry(`${entry.key}-${index}`, 9, large, { versionOffset: 13, itemOffset: 1 }, source),
    );
    for (const _round of [1, 2])
      tableBody(entries, counted, { version: "v1", includeObject: "None" }, { resourceVersion: "9" }, now);
    assert.equal(made, entries.length);
  });

  test("a bookmark is a row of nothing but metadata", async () => {
    const end = { "k8s.io/initial-events-end": "true" };
    const metadata = { resourceVersion: "9" };
    const partial = { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
    const rows: [
      resource: string,
      annotations: object,
      includeObject: "None" | "Metadata" | "Object",
      cells: unknown[],
      object: unknown,
    ][] = [
      ["configmaps", {}, "Metadata", ["", 0, "<unknown>"], partial],
      ["configmaps", {}, "None", ["", 0, "<unknown>"], null],
      [
        "configmaps",
        { annotations: end },
        "None",
        ["", 0, "<unknown>"],
        { ...partial, metadata: { ...metadata, annotations: end } },
      ],
      [
        "pods",
        {},
        "Object",
        ["", "0/0", "", "0", "<unknown>", "<none>", "<none>", "<none>", "<none>"],
        { kind: "Pod", apiVersion: "v1", metadata, spec: { containers: null }, status: {} },
      ],
    ];
    for (const [resource, annotations, includeObject, cells, object] of rows) {
      const resolved = registry.registry.catalog.find("", "v1", resource) as Resolved;
      const { kind } = resolved.resource.definition;
      const bookmark = (isFirst: boolean) =>
        parse(
          tableBookmark(
            { kind, apiVersion: "v1", metadata: { ...metadata, ...annotations } },
            resolved,
            { version: "v1", includeObject },
            now,
            isFirst,
          ),
        );
      assert.deepEqual(bookmark(false), {
        kind: "Table",
        apiVersion: "meta.k8s.io/v1",
        metadata,
        columnDefinitions: null,
        rows: [{ cells, object }],
      });
      assert.equal(bookmark(true).columnDefinitions.length, cells.length);
    }
  });

  test("ages are those of the moment, though the rest of a row is made once", async () => {
    const rows: [resource: string, name: string, cells: (age: string) => unknown[]][] = [
      ["configmaps", "a", (age) => ["a", 1, age]],
      ["pods", "p", (age) => ["p", "0/1", "Succeeded", "0", age, "<none>", "<none>", "<none>", "<none>"]],
    ];
    for (const [resource, name, cells] of rows) {
      const { resolved, entry } = await find("", resource, name);
      for (const [laterMs, age] of [
        [0, "60s"],
        [3_600_000, "61m"],
        [86_400_000 * 9, "9d"],
        [0, "60s"],
      ] as const) {
        const table = parse(
          tableBody(
            [entry],
            resolved,
            { version: "v1", includeObject: "None" },
            { resourceVersion: "9" },
            now + laterMs,
          ),
        );
        assert.deepEqual(table.rows[0].cells, cells(age));
      }
    }
  });

  test("a long list comes in pieces that make up the same text", async () => {
    const { resolved, entry } = await find("", "configmaps", "a");
    const form = { version: "v1", includeObject: "None" } as const;
    const entries = Array.from({ length: 1200 }, () => entry);
    const memory = { memory: new PieceMemory(), parts: undefined };
    const pieces = [...tablePieces({ entries, meta: { resourceVersion: "9" } }, resolved, form, now, memory)];
    assert.deepEqual(
      pieces.map(({ last }) => last),
      [false, false, false, false, true],
    );
    const whole = tableBody(entries, resolved, form, { resourceVersion: "9" }, now);
    assert.equal(Buffer.concat(pieces.map((piece) => piece.encode())).toString(), `${whole}\n`);
  });

  test("no objects, no rows", async () => {
    const { resolved } = await find("", "configmaps", "a");
    const table = parse(
      tableBody([], resolved, { version: "v1", includeObject: "Metadata" }, { resourceVersion: "9" }, now),
    );
    assert.deepEqual(table.rows, []);
  });

  const objectRows: [
    includeObject: "None" | "Metadata" | "Object",
    version: "v1" | "v1beta1",
    want: (entry: Entry) => unknown,
  ][] = [
    ["None", "v1", () => null],
    ["Object", "v1", ({ json }) => parse(json)],
    [
      "Metadata",
      "v1beta1",
      ({ json }) => ({
        kind: "PartialObjectMetadata",
        apiVersion: "meta.k8s.io/v1beta1",
        metadata: parse(json).metadata,
      }),
    ],
  ];
  for (const [includeObject, version, want] of objectRows) {
    test(`${version}, includeObject ${includeObject}`, async () => {
      const { resolved, entry } = await find("", "configmaps", "a");
      const table = parse(tableBody([entry], resolved, { version, includeObject }, { resourceVersion: "9" }, now));
      assert.equal(table.apiVersion, `meta.k8s.io/${version}`);
      assert.deepEqual(table.rows[0].object, want(entry));
    });
  }

  test("kinds without columns show when they were created", async () => {
    const { resolved, entry } = await find("rbac.authorization.k8s.io", "roles", "r");
    const table = parse(
      tableBody([entry], resolved, { version: "v1", includeObject: "None" }, { resourceVersion: "9" }, now),
    );
    assert.deepEqual(
      table.columnDefinitions.map(({ name, type }: Record<string, unknown>) => [name, type]),
      [
        ["Name", "string"],
        ["Created At", "date"],
      ],
    );
    assert.deepEqual(table.rows[0].cells, ["r", "2019-12-31T23:59:00Z"]);
  });

  test("only the first event of a watch has the columns", async () => {
    const { resolved, entry } = await find("", "configmaps", "a");
    const [first, second] = [true, false].map((isFirst) =>
      parse(tableEvent(entry, resolved, { version: "v1", includeObject: "None" }, now, isFirst)),
    );
    assert.equal(first.columnDefinitions.length, 3);
    assert.equal(second.columnDefinitions, null);
    assert.deepEqual(second.metadata, { resourceVersion: String(entry.revision) });
  });

  test("a pod that is done has a condition", async () => {
    const { resolved, entry } = await find("", "pods", "p");
    const [row] = parse(
      tableBody([entry], resolved, { version: "v1", includeObject: "None" }, { resourceVersion: "9" }, now),
    ).rows;
    assert.deepEqual(Object.keys(row), ["cells", "conditions", "object"]);
    assert.deepEqual(row.conditions, [
      { type: "Completed", status: "True", reason: "Succeeded", message: "The pod has completed successfully." },
    ]);
  });

  test("a scale has columns of its own", () => {
    const scale = { metadata: { name: "d", resourceVersion: "7" }, spec: { replicas: 3 }, status: { replicas: 2 } };
    const table = parse(
      tableOfScale(
        scale,
        scaleColumns,
        () => ({ json: Buffer.from("{}"), itemOffset: 1 }),
        { version: "v1", includeObject: "Object" },
        now,
      ),
    );
    assert.deepEqual(
      table.columnDefinitions.map(({ name, format }: Record<string, unknown>) => [name, format]),
      [
        ["Name", ""],
        ["Desired", ""],
        ["Available", ""],
        ["Age", ""],
      ],
    );
    assert.deepEqual(
      [table.metadata, table.rows],
      [{ resourceVersion: "7" }, [{ cells: ["d", 3, 2, "<unknown>"], object: {} }]],
    );
  });

  test("an object that is not stored has no version", async () => {
    const { resolved } = await find("", "configmaps", "a");
    const object = { metadata: { name: "dry" }, data: {} };
    const table = parse(tableOfObject(object, resolved, { version: "v1", includeObject: "Object" }, now));
    assert.deepEqual(table.metadata, {});
    assert.deepEqual(table.rows[0].cells, ["dry", 0, "<unknown>"]);
    assert.equal(table.rows[0].object.kind, "ConfigMap");
  });
});
