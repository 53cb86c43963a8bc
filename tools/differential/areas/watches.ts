/** Watches from versions, with selectors, bookmarks and initial events, in all encodings. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { type Kind, kindOf } from "../samples.ts";
import { fieldSelectors, labeled, labelSelectors, settle } from "./lists.ts";
import { create, named, patchTypes, pathOf, query } from "./steps.ts";

/** The last object that a sequence creates: watches are read until it. */
const marker = "zz-end";

export const watches: Area = {
  name: "watches",
  make(random) {
    const kind = kindOf(random.pick(["configmaps", "secrets", "pods", "services", "leases", "deployments"]));
    const count = 2 + random.below(3);
    const steps: Step[] = Array.from({ length: count }, (_, at) => labeled(kind, `a${at}`, `w${at}`, random));
    for (let times = 2 + random.below(6); times > 0; times--) steps.push(write(kind, count, random));
    const sample = named((kind.samples[0] as Kind["samples"][number]).object, kind, marker);
    steps.push(
      create(kind, { ...sample, metadata: { name: marker, labels: { app: "x", tier: "front" } } }, "end"),
      settle(kind),
    );
    for (let times = 2 + random.below(3); times > 0; times--) steps.push(watch(kind, random));
    return steps;
  },
};

function write(kind: Kind, count: number, random: Random): Step {
  const path = pathOf(kind, `a${random.below(count)}`);
  const roll = random.below(6);
  if (roll < 2) return { method: "DELETE", path: `${path}?gracePeriodSeconds=0` };
  if (roll < 3) return { method: "DELETE", path: kind.collection };
  const metadata = random.pick<object>([
    { labels: { app: "x" } },
    { labels: { app: "y" } },
    { labels: { app: null } },
    { annotations: { a: `${random.below(100)}` } },
    { finalizers: ["example.com/a"] },
    { finalizers: null },
  ]);
  return { method: "PATCH", path, headers: { "content-type": patchTypes.merge }, body: { metadata } };
}

const accepts = [
  "application/json",
  "application/json",
  "application/vnd.kubernetes.protobuf",
  "application/vnd.kubernetes.protobuf;stream=watch",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
  "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
  "application/yaml",
  "application/cbor",
  "application/cbor-seq",
  "text/html",
];

function watch(kind: Kind, random: Random): Step {
  const version = random.pick([
    "{{w0.metadata.resourceVersion}}",
    "{{w0.metadata.resourceVersion}}",
    "{{w1.metadata.resourceVersion}}",
    "",
    "0",
    ...(random.chance(0.2) ? ["a", "999999999", "-1"] : []),
  ]);
  const initial = random.chance(0.3);
  // A selector may hide the last object: then the server ends the watch.
  const hides = random.chance(0.3);
  const selector = hides && random.chance(0.7) && `labelSelector=${random.pick(labelSelectors)}`;
  const fields = hides && selector === false && `fieldSelector=${random.pick(fieldSelectors)}`;
  const path = `${kind.collection}${query(
    `watch=${random.chance(0.95) ? "true" : random.pick(["1", "0", "false", "a"])}`,
    `timeoutSeconds=${hides ? 1 : 3}`,
    selector,
    fields,
    version !== "" && `resourceVersion=${version}`,
    random.chance(0.3) && "allowWatchBookmarks=true",
    initial && `sendInitialEvents=${random.pick(["true", "true", "false"])}`,
    initial && random.chance(0.8) && "resourceVersionMatch=NotOlderThan",
    random.chance(0.05) && "limit=1",
  )}`;
  const accept = random.pick(accepts);
  // The bookmark after the initial events follows the last object.
  const hasEnd = path.includes("allowWatchBookmarks=true") && (initial || version === "" || version === "0");
  return { method: "GET", path, headers: { accept }, watchUntil: hasEnd ? "k8s.io/initial-events-end" : marker };
}
