/** Lists: selectors, chunks, resourceVersions, and deletions of collections by selector. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { type Kind, kindOf } from "../samples.ts";
import { create, named, patchTypes, pathOf, query } from "./steps.ts";

export const lists: Area = {
  name: "lists",
  make(random) {
    const kind = kindOf(
      random.pick(["configmaps", "secrets", "pods", "services", "leases", "events", "deployments", "jobs"]),
    );
    const count = 3 + random.below(4);
    const steps: Step[] = Array.from({ length: count }, (_, at) => labeled(kind, `a${at}`, `w${at}`, random));
    steps.push(settle(kind));
    for (let times = 7 + random.below(8); times > 0; times--) steps.push(...operation(kind, count, random));
    return steps;
  },
};

const labelSets: readonly (Record<string, string> | undefined)[] = [
  { app: "x" },
  { app: "x", tier: "front" },
  { app: "y", tier: "" },
  { "example.com/app": "x" },
  {},
  undefined,
];

export function labeled(kind: Kind, name: string, id: string, random: Random): Step {
  const sample = named((kind.samples[0] as Kind["samples"][number]).object, kind, name);
  const labels = random.pick(labelSets);
  return create(kind, { ...sample, metadata: { name, ...(labels && { labels }) } }, id);
}

export const labelSelectors: readonly string[] = [
  "app=x",
  "app==x",
  "app%20=%20x",
  "app!=x",
  "app",
  "!app",
  "app%20in%20(x,y)",
  "app%20notin%20(x)",
  "app%20in%20()",
  "app%20in%20(,x)",
  "tier=",
  "tier",
  "app=x,tier=front",
  "app=x,",
  ",",
  "example.com/app=x",
  "app=x=y",
  "app%3E1",
  "app%3C-1",
  "app>a",
  "-a=x",
  "app=-x",
  "app%20in%20x",
  "app%20exists",
  "a/b/c=d",
  "app%20in%20(x",
  "%22app%22=x",
  "app=x%00",
];
export const fieldSelectors: readonly string[] = [
  "metadata.name=a1",
  "metadata.name==a1",
  "metadata.name!=a1",
  "metadata.name=a1,metadata.namespace=$ns",
  "metadata.namespace=other",
  "metadata.uid=1",
  "spec.nodeName=",
  "status.phase=Pending",
  "status.phase!=Running",
  "spec.restartPolicy=Always",
  "type=Opaque",
  "reason=a",
  "involvedObject.name=a",
  "metadata.name",
  "=a",
  "metadata.name=a%5C,b",
  "metadata.name=a%5C",
  "metadata.name=,",
  ",",
  "spec.unknown=1",
];
const versions = [
  "",
  "0",
  "{{w1.metadata.resourceVersion}}",
  "{{w1.metadata.resourceVersion}}",
  "999999999",
  "a",
  "-1",
  "1.5",
];
const matches = ["Exact", "NotOlderThan", "", "Other"];
const limits = ["1", "2", "3", "0", "-1", "a", "9223372036854775807", "9223372036854775808", "1.5"];

/** Which state a list of one name with a limit has is decided otherwise: docs/compatibility/list-watch.md. */
const isDecided = (text: string): boolean =>
  /metadata\.name=/.test(text) && /limit=\d/.test(text) && /resourceVersion=/.test(text) && !text.includes("Match=");

export function listQuery(random: Random): string {
  const text = query(
    random.chance(0.4) && `labelSelector=${random.pick(labelSelectors)}`,
    random.chance(0.3) && `fieldSelector=${random.pick(fieldSelectors)}`,
    random.chance(0.35) && `limit=${random.pick(limits)}`,
    random.chance(0.35) && `resourceVersion=${random.pick(versions)}`,
    random.chance(0.2) && `resourceVersionMatch=${random.pick(matches)}`,
    random.chance(0.08) &&
      `continue=${random.pick(["a", "", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6LTEsInN0YXJ0IjoiYVx1MDAwMCJ9", "e30"])}`,
    random.chance(0.05) && `sendInitialEvents=${random.pick(["true", "false", "a"])}`,
    random.chance(0.05) && `timeoutSeconds=${random.pick(["1", "0", "a", "-1"])}`,
  );
  return isDecided(text) ? `${text}&resourceVersionMatch=Exact` : text;
}

function operation(kind: Kind, count: number, random: Random): Step[] {
  const name = `a${random.below(count)}`;
  const roll = random.below(14);
  if (roll < 6) return [{ method: "GET", path: `${kind.collection}${listQuery(random)}` }];
  if (roll < 9) return chunks(kind, random);
  if (roll < 10) return [{ method: "DELETE", path: `${kind.collection}${selectorQuery(random)}` }, settle(kind)];
  if (roll < 11) return [{ method: "DELETE", path: pathOf(kind, name) }, settle(kind)];
  if (roll < 12) return [labeled(kind, name, `v${random.below(1000)}`, random), settle(kind)];
  const all = kind.collection.replace("namespaces/$ns/", "");
  if (roll < 13) return [{ method: "GET", path: `${all}?fieldSelector=metadata.namespace%3D$ns` }];
  const body = { metadata: { labels: random.pick(labelSets) ?? null } };
  return [
    { method: "PATCH", path: pathOf(kind, name), headers: { "content-type": patchTypes.merge }, body },
    settle(kind),
  ];
}

/** A read of the newest state waits for the cache, so that later reads of older states have one answer. */
export function settle(kind: Kind): Step {
  return { method: "GET", path: kind.collection, silent: true };
}

function selectorQuery(random: Random): string {
  return query(
    random.chance(0.6) && `labelSelector=${random.pick(labelSelectors)}`,
    random.chance(0.3) && `fieldSelector=${random.pick(fieldSelectors)}`,
    random.chance(0.2) && `limit=${random.pick(limits)}`,
    random.chance(0.1) && "dryRun=All",
  );
}

/** All chunks of a list, with a write between them. */
function chunks(kind: Kind, random: Random): Step[] {
  const id = `c${random.below(10_000)}`;
  const selector = random.chance(0.3) && `labelSelector=${random.pick(labelSelectors)}`;
  const limit = `limit=${1 + random.below(2)}`;
  const first = { id, method: "GET", path: `${kind.collection}${query(limit, selector)}` };
  const write: Step[] = random.chance(0.4)
    ? [{ method: "DELETE", path: pathOf(kind, `a${random.below(3)}`) }, settle(kind)]
    : [];
  const next = (from: string, own: string): Step => ({
    id: own,
    method: "GET",
    path: `${kind.collection}${query(limit, selector, `continue={{${from}.metadata.continue}}`, random.chance(0.1) && "resourceVersion=0")}`,
  });
  return [first, ...write, next(id, `${id}-2`), next(`${id}-2`, `${id}-3`)];
}
