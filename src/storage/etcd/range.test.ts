/** Ranges in pages, read from a list of values. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RangeOptions } from "../contract.ts";
import type { KeyValue, RangeRequest, RangeResponse } from "./api/messages.ts";
import { keysWithPrefix } from "./keys.ts";
import { readRange } from "./range.ts";

const prefix = "/registry/things/";
const KiB = 1024;

interface Pages {
  readonly names: readonly string[];
  readonly more: boolean;
  /** The keys that each request permitted. */
  readonly limits: readonly number[];
  readonly revisions: readonly (number | undefined)[];
}

/** Reads values of these sizes. */
async function pagesOf(sizes: readonly number[], options: RangeOptions = {}): Promise<Pages> {
  const kvs = sizes.map((bytes, at): KeyValue => {
    const key = Buffer.from(`${prefix}${String(at).padStart(5, "0")}`);
    return { key, value: Buffer.alloc(bytes), create_revision: 1, mod_revision: 1, version: 1, lease: 0 };
  });
  const requests: RangeRequest[] = [];
  const header = { cluster_id: 1, member_id: 1, revision: 7, raft_term: 1 };
  const read = async (request: RangeRequest): Promise<RangeResponse> => {
    requests.push(request);
    const left = kvs.filter(({ key }) => key.compare(request.key) >= 0);
    const page = left.slice(0, request.limit);
    return { header, kvs: page.length === 0 ? undefined : page, more: left.length > page.length, count: left.length };
  };
  const storedOf = ({ key, value, mod_revision: revision }: KeyValue) => ({ key: key.toString(), revision, value });
  const { entries, more } = await readRange({ keys: keysWithPrefix("/registry"), read, storedOf }, prefix, options);
  return {
    names: entries.map(({ key }) => key.slice(prefix.length)),
    more,
    limits: requests.map(({ limit }) => limit as number),
    revisions: requests.map(({ revision }) => revision),
  };
}

const many = (count: number, bytes: number): number[] => new Array(count).fill(bytes);

describe("a range", () => {
  const rows: [what: string, sizes: number[], options: RangeOptions, limits: number[], entries: number][] = [
    ["without values has one page", [], {}, [100], 0],
    ["of small values has larger pages", many(6_000, 100), {}, [100, 400, 1600, 4000], 6_000],
    ["of large values has smaller pages", many(200, 100 * KiB), {}, [100, 40, 40, 40], 200],
    ["of the largest values has the smallest pages", many(140, 1536 * KiB), {}, [100, 16, 16, 16], 140],
    [
      "whose values become small has larger pages again",
      [...many(110, 400 * KiB), ...many(300, 1)],
      {},
      [100, 16, 16, 64, 256],
      410,
    ],
    ["with a limit ends there", many(600, 100), { limit: 500 }, [100, 400], 500],
    ["with a small limit has one page", many(600, 100), { limit: 3 }, [3], 3],
    ["with a limit ends early when the values are large", many(600, 100 * KiB), { limit: 500 }, [100], 100],
    ["with a limit that equals the number of values ends there", many(100, 1), { limit: 100 }, [100], 100],
  ];
  for (const [what, sizes, options, limits, entries] of rows)
    test(what, async () => {
      const pages = await pagesOf(sizes, options);
      assert.deepEqual(pages.limits, limits);
      assert.deepEqual(
        pages.names,
        sizes.slice(0, entries).map((_, at) => String(at).padStart(5, "0")),
      );
      assert.equal(pages.more, entries < sizes.length);
    });

  test("reads all pages at the revision of the first, or at the one requested", async () => {
    assert.deepEqual((await pagesOf(many(500, 1))).revisions, [undefined, 7]);
    assert.deepEqual((await pagesOf(many(500, 1), { revision: 5 })).revisions, [5, 5]);
  });

  test("starts after a key", async () => {
    assert.deepEqual((await pagesOf(many(5, 1), { after: `${prefix}00002` })).names, ["00003", "00004"]);
    assert.deepEqual((await pagesOf(many(2, 1), { after: "/registry/a" })).names, ["00000", "00001"]);
  });
});
