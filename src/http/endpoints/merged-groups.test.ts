import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinCatalog } from "../../../test/support/builtin-catalog.ts";
import { type RemoteVersionDiscovery, servedGroups } from "../../catalog/discovery.ts";
import type { ApiServiceView } from "../../forwarding/aggregator/contract.ts";
import { mergeGroups } from "./merged-groups.ts";

const builtin = servedGroups(builtinCatalog().definitions());
const service = { namespace: "default", name: "backend", port: 443 };

/** @param name such as `v1.example.com` */
function apiService(name: string, group: number, version: number, more: Partial<ApiServiceView> = {}): ApiServiceView {
  const [, versionName = "", groupName = ""] = /^([^.]*)\.(.*)$/.exec(name) ?? [];
  return {
    name,
    group: groupName,
    version: versionName,
    uid: "",
    resourceVersion: "1",
    service,
    caBundle: "",
    insecureSkipTlsVerify: true,
    groupPriorityMinimum: group,
    versionPriority: version,
    isAvailable: false,
    ...more,
  };
}

interface Row {
  readonly title: string;
  readonly registered: readonly ApiServiceView[];
  /** The last groups of `/apis`, each with its versions. */
  readonly plain: readonly string[];
  /** The last groups of aggregated discovery. */
  readonly aggregated: readonly string[];
  /** Names of the APIServices without discovery; all others have it. */
  readonly waiting?: readonly string[];
}

const last = "storagemigration.k8s.io v1beta1";

const rows: readonly Row[] = [
  {
    title: "places groups by priority",
    registered: [apiService("v1.low.example.com", 10, 10), apiService("v1.middle.example.com", 2000, 10)],
    plain: ["middle.example.com v1", "low.example.com v1"],
    aggregated: ["middle.example.com v1", "low.example.com v1"],
  },
  {
    title: "places a group by its highest priority, and its versions by theirs",
    registered: [
      apiService("v1.two.example.com", 10, 5),
      apiService("v1beta1.two.example.com", 3000, 20),
      apiService("v2.two.example.com", 10, 5),
      apiService("v1.one.example.com", 2000, 10),
    ],
    plain: ["two.example.com v1beta1 v2 v1", "one.example.com v1"],
    aggregated: ["two.example.com v1beta1 v2 v1", "one.example.com v1"],
  },
  {
    title: "breaks ties by the name of the APIService at /apis, and by the group in aggregated discovery",
    registered: [apiService("v1beta1.a.example.com", 100, 10), apiService("v1.b.example.com", 100, 10)],
    plain: ["b.example.com v1", "a.example.com v1beta1"],
    aggregated: ["a.example.com v1beta1", "b.example.com v1"],
  },
  {
    title: "lists a group version at /apis before its server was asked",
    registered: [apiService("v1.a.example.com", 100, 10)],
    waiting: ["v1.a.example.com"],
    plain: [last, "a.example.com v1"],
    aggregated: [last],
  },
  {
    title: "lists a local APIService without resources at /apis only",
    registered: [apiService("v1.a.example.com", 100, 10, { service: undefined })],
    plain: [last, "a.example.com v1"],
    aggregated: [last],
  },
  {
    title: "uses changed priorities of local APIServices at /apis only",
    registered: [apiService("v1beta1.storagemigration.k8s.io", 17_900, 9, { service: undefined })],
    plain: ["flowcontrol.apiserver.k8s.io v1"],
    aggregated: [last],
  },
  {
    title: "ignores an APIService of the core group",
    registered: [apiService("v1.", 20_000, 10)],
    plain: [last],
    aggregated: [last],
  },
  {
    title: "adds versions of other servers to a group of this server",
    registered: [apiService("v3.storagemigration.k8s.io", 1, 100)],
    plain: ["storagemigration.k8s.io v3 v1beta1"],
    aggregated: ["storagemigration.k8s.io v3 v1beta1"],
  },
];

const storageMigration = builtinCatalog("storagemigration.k8s.io/v1beta1=true");
const served = servedGroups(storageMigration.definitions());

for (const { title, registered, waiting = [], plain, aggregated } of rows) {
  test(title, () => {
    const current: RemoteVersionDiscovery = { resources: [], freshness: "Current" };
    const find = (group: string, version: string) => (waiting.includes(`${version}.${group}`) ? undefined : current);
    const merged = mergeGroups(served, registered, { find });
    const lastOf = (groups: typeof merged.plain, count: number): string[] =>
      groups.slice(-count).map(({ group, versions }) => [group, ...versions.map(({ version }) => version)].join(" "));
    assert.deepEqual(lastOf(merged.plain, plain.length), plain);
    assert.deepEqual(lastOf(merged.aggregated, aggregated.length), aggregated);
    assert.equal(merged.plain[0]?.group, "apiregistration.k8s.io");
    assert.equal(merged.aggregated[0]?.group, "apiregistration.k8s.io");
  });
}

test("the other server's content replaces that of this server", () => {
  const remote: RemoteVersionDiscovery = { resources: [{ resource: "things" }], freshness: "Stale" };
  const { aggregated } = mergeGroups(builtin, [apiService("v1.apps", 17_800, 15)], { find: () => remote });
  assert.deepEqual(aggregated.find(({ group }) => group === "apps")?.versions, [{ version: "v1", remote }]);
});

test("this server's groups have upstream's order without APIServices", () => {
  const names = builtin.map(({ group }) => group).filter((group) => group !== "");
  const { plain, aggregated } = mergeGroups(builtin, [], undefined);
  assert.deepEqual(
    plain.map(({ group }) => group),
    aggregated.map(({ group }) => group),
  );
  assert.deepEqual(plain.map(({ group }) => group).toSorted(), names.toSorted());
  assert.deepEqual(
    plain.slice(0, 3).map(({ group }) => group),
    ["apiregistration.k8s.io", "apps", "events.k8s.io"],
  );
});
