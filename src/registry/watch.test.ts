import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { systemClock } from "../apimachinery/clock.ts";
import { ApiError } from "../apimachinery/errors.ts";
import type { Resolved } from "../catalog/contract.ts";
import { parseListOptions } from "../request/list-options.ts";
import type { CacheEvent } from "../watch-cache/contract.ts";
import { planWatch } from "./watch.ts";

let memory: MemoryRegistry;
let maps: Resolved;
let start = "";

const at = ["/configmaps", "n"] as const;
const label =
  (t: string) =>
  (object: { metadata: { labels?: Record<string, string> } }): void => {
    object.metadata.labels = { t };
  };

before(async () => {
  // Does not wait for a resourceVersion that is never reached.
  memory = await openMemoryRegistry({
    clock: { ...systemClock, after: (delay, run) => systemClock.after(Math.min(delay, 1), run) },
  });
  maps = memory.registry.catalog.find("", "v1", "configmaps") as Resolved;
  for (const name of ["n", "other"])
    await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const seed = await memory.create(at, {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "seed", labels: { t: "on" } },
  });
  start = seed.metadata.resourceVersion as string;
  await memory.create(at, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", labels: { t: "on" } } });
  await memory.change(at, "a", label("off"));
  await memory.create(["/configmaps", "other"], {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "a", labels: { t: "on" } },
  });
  await memory.change(at, "a", label("on"));
  await memory.delete(at, "a");
  await memory.create(at, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "b" } });
});
after(() => memory.close());

/** @param query after `watch=1`; a leading bar omits that, as paths under `/watch/` do */
async function outcome(namespace: string, name: string, query: string, initialEvents = true): Promise<string> {
  try {
    const options = parseListOptions(
      new URLSearchParams(`${query.startsWith("|") ? query.slice(1) : `watch=1&${query}`}`.replace("$0", start)),
    );
    const plan = await planWatch(maps.resource, { namespace, name, options, initialEvents });
    if (plan.startError !== undefined)
      return `event ${plan.startError.status.code} ${plan.startError.status.message.replace(/\d+$/, "")}`;
    const { cache } = maps.resource.store as NonNullable<typeof maps.resource.store>;
    await cache.loadEventsAfter(plan.from);
    const seen = plan.initial ? [...plan.scope.objects(plan.initial)].map((entry) => `ADDED ${entry?.index.name}`) : [];
    if (plan.initialEventsEnd !== undefined) seen.push(plan.initialEventsEnd === plan.from ? "END" : "END later");
    cache
      .subscribe(plan.from, {
        events(batch: readonly CacheEvent[]) {
          for (const event of batch) {
            const shown = plan.scope.shown(event);
            if (shown === undefined) continue;
            assert.match(shown.entry.json.toString(), new RegExp(`"resourceVersion":"${event.revision}"`));
            seen.push(`${shown.type} ${shown.entry.index.name} ${shown.entry.index.labels.get("t") ?? "-"}`);
          }
        },
        end() {},
      })
      .close();
    return seen.join(", ");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return `${error.status.code} ${error.status.message}`;
  }
}

const forbidden = 'ListOptions.meta.k8s.io "" is invalid: ';
const needsMatch =
  "resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
const needsInitial =
  "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
const notOlder = "resourceVersionMatch=NotOlderThan";
const noContinue = "resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided";
const unknownMatch = (match: string): string =>
  `resourceVersionMatch: Unsupported value: "${match}": supported values: "NotOlderThan"`;

const rows: [namespace: string, name: string, query: string, want: string][] = [
  ["n", "", "resourceVersion=$0", "ADDED a on, MODIFIED a off, MODIFIED a on, DELETED a on, ADDED b -"],
  ["", "", "resourceVersion=$0", "ADDED a on, MODIFIED a off, ADDED a on, MODIFIED a on, DELETED a on, ADDED b -"],
  ["n", "", "resourceVersion=$0&labelSelector=t%3Don", "ADDED a on, DELETED a on, ADDED a on, DELETED a on"],
  ["n", "", "resourceVersion=$0&labelSelector=t%3Doff", "ADDED a off, DELETED a off"],
  ["n", "", "resourceVersion=$0&labelSelector=!t", "ADDED b -"],
  ["n", "", "resourceVersion=$0&fieldSelector=metadata.name%3Db", "ADDED b -"],
  ["", "", "resourceVersion=$0&fieldSelector=metadata.name%3Da,metadata.namespace%3Dother", "ADDED a on"],
  ["n", "b", "resourceVersion=$0", "ADDED b -"],
  ["n", "b", "resourceVersion=$0&fieldSelector=metadata.name%3Db", "ADDED b -"],
  [
    "n",
    "b",
    "resourceVersion=$0&fieldSelector=metadata.name%3Da",
    "400 fieldSelector metadata.name doesn't match requested name",
  ],
  ["n", "", "", "ADDED b, ADDED seed"],
  ["n", "", "resourceVersion=0", "ADDED b, ADDED seed"],
  ["n", "", "resourceVersion=0&labelSelector=t", "ADDED seed"],
  ["n", "seed", "", "ADDED seed"],
  ["n", "", "resourceVersion=999999999999", ""],
  ["n", "", "resourceVersion=18446744073709551615", ""],
  ["n", "", "limit=1&resourceVersion=0", "ADDED b, ADDED seed"],
  ["n", "", "limit=1&continue=x&resourceVersion=0", `400 ${forbidden}${noContinue}`],
  ["n", "", "limit=1&continue=x&resourceVersion=$0&fieldSelector=metadata.name%3Db", "ADDED b -"],
  // Without a resourceVersion, or at 0, it is a streaming list if it allows bookmarks.
  ["n", "", "allowWatchBookmarks=true", "ADDED b, ADDED seed, END"],
  ["n", "", "allowWatchBookmarks=true&resourceVersion=0", "ADDED b, ADDED seed, END"],
  ["n", "", "|allowWatchBookmarks=true", "ADDED b, ADDED seed"],
  ["n", "", "allowWatchBookmarks=true&resourceVersion=$0&fieldSelector=metadata.name%3Db", "ADDED b -"],
  ["n", "", `sendInitialEvents=true&${notOlder}&allowWatchBookmarks=true`, "ADDED b, ADDED seed, END"],
  ["n", "", `sendInitialEvents=true&${notOlder}&allowWatchBookmarks=true&resourceVersion=`, "ADDED b, ADDED seed, END"],
  ["n", "", `sendInitialEvents=1&${notOlder}&allowWatchBookmarks=1&resourceVersion=0`, "ADDED b, ADDED seed, END"],
  [
    "n",
    "",
    `sendInitialEvents=true&${notOlder}&allowWatchBookmarks=true&resourceVersion=$0`,
    "ADDED b, ADDED seed, END",
  ],
  ["n", "seed", `sendInitialEvents=true&${notOlder}&allowWatchBookmarks=true`, "ADDED seed, END"],
  ["n", "", `sendInitialEvents=true&${notOlder}&allowWatchBookmarks=true&labelSelector=none`, "END"],
  [
    "n",
    "",
    `sendInitialEvents=true&${notOlder}&resourceVersion=999999`,
    "event 504 Timeout: Too large resource version: 999999, current: ",
  ],
  [
    "n",
    "",
    `sendInitialEvents=true&${notOlder}&allowWatchBookmarks=true&resourceVersion=18446744073709551615`,
    "event 504 Timeout: Too large resource version: 18446744073709551615, current: ",
  ],
  ["n", "", `sendInitialEvents=true&${notOlder}`, "ADDED b, ADDED seed"],
  ["n", "", `sendInitialEvents=false&${notOlder}`, ""],
  ["n", "", `sendInitialEvents=false&${notOlder}&resourceVersion=0`, ""],
  ["n", "", `sendInitialEvents=false&${notOlder}&resourceVersion=$0&labelSelector=!t`, "ADDED b -"],
  ["n", "", "sendInitialEvents=true", `400 ${forbidden}${needsMatch}`],
  ["n", "", "sendInitialEvents=false", `400 ${forbidden}${needsMatch}`],
  [
    "n",
    "",
    "sendInitialEvents=true&resourceVersionMatch=Exact",
    `400 ${forbidden}[${needsMatch}, ${unknownMatch("Exact")}]`,
  ],
  ["n", "", notOlder, `400 ${forbidden}${needsInitial}`],
  ["n", "", `${notOlder}&resourceVersion=0`, `400 ${forbidden}${needsInitial}`],
  ["n", "", `${notOlder}&resourceVersion=$0`, `400 ${forbidden}${needsInitial}`],
  [
    "n",
    "",
    "resourceVersionMatch=Exact&resourceVersion=1",
    `400 ${forbidden}[${needsInitial}, ${unknownMatch("Exact")}]`,
  ],
  ["n", "", "resourceVersionMatch=Odd", `400 ${forbidden}[${needsInitial}, ${unknownMatch("Odd")}]`],
  ["n", "", `sendInitialEvents=true&${notOlder}&continue=x`, `400 ${forbidden}${noContinue}`],
  ["n", "", `${notOlder}&continue=x`, `400 ${forbidden}[${needsInitial}, ${noContinue}]`],
  [
    "n",
    "",
    "|sendInitialEvents=true",
    `400 ${forbidden}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list`,
  ],
  [
    "n",
    "",
    "|resourceVersionMatch=Exact",
    `400 ${forbidden}resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided`,
  ],
  [
    "n",
    "",
    "resourceVersion=x",
    '500 resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  ],
  [
    "n",
    "",
    "resourceVersion=-1",
    '500 resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
  ],
  [
    "n",
    "",
    `sendInitialEvents=true&${notOlder}&resourceVersion=x`,
    '500 resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax',
  ],
  ["n", "", "timeoutSeconds=x", '400 strconv.ParseInt: parsing "x": invalid syntax'],
  [
    "n",
    "",
    "labelSelector=a%20b",
    "400 unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt",
  ],
];

test("starts a watch and shows its events by options", async () => {
  for (const [namespace, name, query, want] of rows)
    assert.equal(await outcome(namespace, name, query), want, `${namespace}/${name}?${query}`);
});

test("starts a watch without the gate WatchList", async () => {
  const rows: [query: string, want: string][] = [
    ["allowWatchBookmarks=true", "ADDED b, ADDED seed"],
    [
      `sendInitialEvents=true&${notOlder}`,
      `400 ${forbidden}sendInitialEvents: Forbidden: sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled`,
    ],
  ];
  for (const [query, want] of rows) assert.equal(await outcome("n", "", query, false), want, query);
});

test("rejects an expired resourceVersion", async () => {
  const { storage } = memory.registry;
  await storage.compact(await storage.current());
  assert.match(await outcome("n", "", "resourceVersion=1"), /^410 too old resource version: 1 \(\d+\)$/);
});
