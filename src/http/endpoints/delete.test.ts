/** DELETE, from what is asked to what is answered and left. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";

const path = "/api/v1/namespaces/ns/configmaps";

async function withNamespace(run: (cluster: MemoryRegistry) => Promise<void>): Promise<void> {
  const cluster = await openMemoryRegistry();
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
  try {
    await run(cluster);
  } finally {
    await cluster.close();
  }
}

type Kind = "configmaps" | "replicationcontrollers" | "jobs" | "events";

const places: Readonly<Record<Kind, string>> = {
  configmaps: path,
  replicationcontrollers: "/api/v1/namespaces/ns/replicationcontrollers",
  jobs: "/apis/batch/v1/namespaces/ns/jobs",
  events: "/api/v1/namespaces/ns/events",
};

const bodyOf = (kind: Kind, finalizers: readonly string[]): object => {
  const restartPolicy = kind === "jobs" ? "Never" : "Always";
  const template = {
    metadata: { labels: { a: "b" } },
    spec: { restartPolicy, containers: [{ name: "c", image: "i" }] },
  };
  if (kind === "events")
    return { metadata: { name: "a", finalizers }, involvedObject: { kind: "Pod", name: "p", namespace: "ns" } };
  return { metadata: { name: "a", finalizers }, ...(kind !== "configmaps" && { spec: { template } }) };
};

const policyRows: [
  kind: Kind,
  finalizers: string[],
  options: object | undefined,
  left: string[] | "gone",
  status?: number,
][] = [
  ["configmaps", [], undefined, "gone"],
  ["configmaps", [], { propagationPolicy: "Background" }, "gone"],
  ["configmaps", [], { propagationPolicy: "Foreground" }, ["foregroundDeletion"]],
  ["configmaps", [], { propagationPolicy: "Orphan" }, ["orphan"]],
  ["configmaps", [], { orphanDependents: true }, ["orphan"]],
  ["configmaps", [], { orphanDependents: false }, "gone"],
  ["configmaps", ["x/y"], { orphanDependents: false }, ["x/y"], 202],
  ["configmaps", ["x/y"], undefined, ["x/y"]],
  ["configmaps", ["x/y"], { propagationPolicy: "Foreground" }, ["x/y", "foregroundDeletion"]],
  ["configmaps", ["orphan"], undefined, ["orphan"]],
  ["configmaps", ["orphan"], { propagationPolicy: "Background" }, "gone"],
  ["configmaps", ["orphan"], { propagationPolicy: "Foreground" }, ["foregroundDeletion"]],
  ["configmaps", ["foregroundDeletion"], undefined, ["foregroundDeletion"]],
  ["configmaps", ["foregroundDeletion", "x/y"], { propagationPolicy: "Orphan" }, ["x/y", "orphan"]],
  ["configmaps", ["foregroundDeletion"], { orphanDependents: false }, "gone"],
  ["replicationcontrollers", [], undefined, ["orphan"]],
  ["replicationcontrollers", [], { propagationPolicy: "Background" }, "gone"],
  ["replicationcontrollers", ["foregroundDeletion"], undefined, ["foregroundDeletion"]],
  ["jobs", [], undefined, ["orphan"]],
  ["jobs", [], { orphanDependents: false }, "gone"],
  ["events", [], { propagationPolicy: "Foreground" }, "gone"],
  ["events", ["orphan"], { propagationPolicy: "Orphan" }, "gone"],
  ["events", ["foregroundDeletion", "x/y"], undefined, ["x/y"]],
  ["configmaps", ["orphan", "orphan"], { propagationPolicy: "Orphan" }, ["orphan", "orphan"]],
  ["configmaps", ["x/y", "x/y"], { propagationPolicy: "Foreground" }, ["x/y", "x/y", "foregroundDeletion"]],
];

for (const [kind, finalizers, options, left, status = 200] of policyRows) {
  test(`${kind} with finalizers [${finalizers}], deleted with ${JSON.stringify(options ?? {})}: ${left}`, () =>
    withNamespace(async ({ registry }) => {
      const place = places[kind];
      assert.equal((await send(registry, `POST ${place}`, bodyOf(kind, finalizers))).status, 201);
      const dry = await send(registry, `DELETE ${place}/a?dryRun=All`, options && { ...options, dryRun: ["All"] });
      const untouched = await send(registry, `GET ${place}/a`);
      assert.deepEqual(untouched.body.metadata.finalizers ?? [], finalizers);
      assert.equal(untouched.body.metadata.deletionTimestamp, undefined);
      const { status: answered, body, warnings } = await send(registry, `DELETE ${place}/a`, options);
      assert.deepEqual([answered, dry.status], [status, status]);
      const pods = "child pods are preserved by default when jobs are deleted";
      assert.equal(warnings.includes(pods), kind === "jobs" && options === undefined);
      if (left === "gone") {
        // A dry run that drops the last finalizers answers with an object of which nothing is set, as upstream.
        assert.deepEqual([body.kind, dry.body.kind === "Status"], ["Status", finalizers.length === 0]);
        assert.equal(dry.body.metadata.name, undefined);
        assert.equal((await send(registry, `GET ${place}/a`)).status, 404);
        return;
      }
      for (const { metadata } of [body, dry.body, (await send(registry, `GET ${place}/a`)).body]) {
        assert.deepEqual(metadata.finalizers, left);
        assert.equal(metadata.deletionGracePeriodSeconds, 0);
        assert.ok(metadata.deletionTimestamp);
      }
    }));
}

test("an object that is being deleted gets no new finalizers, and is removed with its last one", () =>
  withNamespace(async ({ registry }) => {
    await send(registry, `POST ${path}`, bodyOf("configmaps", ["x/y", "x/z"]));
    await send(registry, `DELETE ${path}/a`);
    const { body: object } = await send(registry, `GET ${path}/a`);
    const more = await send(registry, `PUT ${path}/a`, {
      ...object,
      metadata: { ...object.metadata, finalizers: ["x/y", "x/new"] },
    });
    assert.equal(more.status, 422);
    const text =
      'no new finalizers can be added if the object is being deleted, found new finalizers []string{"x/new"}';
    assert.equal(more.body.message, `ConfigMap "a" is invalid: metadata.finalizers: Forbidden: ${text}`);
    assert.equal(
      (await send(registry, `MERGE ${path}/a`, { data: { still: "writable" }, metadata: { finalizers: ["x/z"] } }))
        .status,
      200,
    );
    const last = await send(registry, `JSON ${path}/a`, [{ op: "remove", path: "/metadata/finalizers/0" }]);
    assert.equal(last.status, 200);
    assert.equal(last.body.metadata.finalizers, undefined);
    assert.equal((await send(registry, `GET ${path}/a`)).status, 404);
  }));

test("a pending deletion may change its propagation policy", () =>
  withNamespace(async ({ registry }) => {
    await send(registry, `POST ${path}`, bodyOf("configmaps", []));
    await send(registry, `DELETE ${path}/a`, { propagationPolicy: "Foreground" });
    const { body } = await send(registry, `DELETE ${path}/a`, { propagationPolicy: "Orphan" });
    assert.deepEqual(body.metadata.finalizers, ["orphan"]);
    assert.equal((await send(registry, `DELETE ${path}/a`, { propagationPolicy: "Background" })).body.kind, "Status");
    assert.equal((await send(registry, `GET ${path}/a`)).status, 404);
  }));

/** Recorded from kube-apiserver. */
const blankRows: readonly (readonly [resource: string, content: string])[] = [
  [
    "deployments",
    '"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"strategy":{}},"status":{}',
  ],
  [
    "statefulsets",
    '"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"serviceName":"","updateStrategy":{}},"status":{"replicas":0,"availableReplicas":0}',
  ],
  [
    "replicasets",
    '"metadata":{},"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},"status":{"replicas":0}',
  ],
  [
    "daemonsets",
    '"metadata":{"annotations":{"deprecated.daemonset.template.generation":"0"}},"spec":{"selector":null,"template":{"metadata":{},"spec":{"containers":null}},"updateStrategy":{}},"status":{"currentNumberScheduled":0,"numberMisscheduled":0,"desiredNumberScheduled":0,"numberReady":0}',
  ],
];

for (const [resource, content] of blankRows) {
  test(`a dry run that drops the last finalizers of ${resource} shows what is never unset`, () =>
    withNamespace(async ({ registry }) => {
      const path = `/apis/apps/v1/namespaces/ns/${resource}`;
      const labels = { a: "b" };
      const template = { metadata: { labels }, spec: { containers: [{ name: "c", image: "i" }] } };
      const metadata = { name: "a", finalizers: ["foregroundDeletion"] };
      await send(registry, `POST ${path}`, { metadata, spec: { selector: { matchLabels: labels }, template } });
      const { bytes } = await send(registry, `DELETE ${path}/a?dryRun=All`, { propagationPolicy: "Background" });
      assert.equal(
        bytes
          .toString()
          .replace(/^{"kind":"\w+","apiVersion":"apps\/v1",/, "{")
          .trim(),
        `{${content}}`,
      );
    }));
}

const preconditionRows: [query: string, status: number][] = [
  ["uid=x", 409],
  ["resourceVersion=x", 409],
  ["uid=&resourceVersion=", 200],
  ["uid=UID", 200],
];

for (const [query, status] of preconditionRows) {
  test(`preconditions in the query: ${query}`, () =>
    withNamespace(async ({ registry }) => {
      const path = places.configmaps;
      const { body } = await send(registry, `POST ${path}`, bodyOf("configmaps", []));
      const answer = await send(registry, `DELETE ${path}/a?${query.replace("UID", body.metadata.uid)}`);
      assert.equal(answer.status, status, answer.body.message);
    }));
}

const graceRows: [first: number | undefined, second: number | undefined, seconds: number | "gone"][] = [
  [undefined, undefined, 30],
  [undefined, 60, 30],
  [undefined, 5, 5],
  [undefined, -7, 1],
  [-7, undefined, 1],
  [10, 10, 10],
  [10, 0, "gone"],
  [0, undefined, "gone"],
];

for (const [first, second, seconds] of graceRows) {
  test(`a pod on a node, deleted with ${first} seconds and then with ${second}: ${seconds}`, () =>
    withNamespace(async ({ registry }) => {
      const pods = "/api/v1/namespaces/ns/pods";
      const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
      await send(registry, `POST ${pods}`, { metadata: { name: "a" }, spec });
      const options = (grace: number | undefined): object => (grace === undefined ? {} : { gracePeriodSeconds: grace });
      for (const grace of [first, second]) await send(registry, `DELETE ${pods}/a`, options(grace));
      const { status, body } = await send(registry, `GET ${pods}/a`);
      if (seconds === "gone") assert.equal(status, 404);
      else assert.equal(body.metadata.deletionGracePeriodSeconds, seconds);
    }));
}

const names = (items: { metadata: { name: string } }[]): string[] => items.map(({ metadata }) => metadata.name);

test("deletes a collection by selectors and limit, in chunks", () =>
  withNamespace(async ({ registry }) => {
    for (const name of ["a", "b", "c", "d"])
      await send(registry, `POST ${path}`, { metadata: { name, labels: { half: name < "c" ? "1" : "2" } } });
    const first = await send(registry, `DELETE ${path}?limit=1&labelSelector=half=1`);
    assert.deepEqual(names(first.body.items), ["a"]);
    const token = encodeURIComponent(first.body.metadata.continue);
    const second = await send(registry, `DELETE ${path}?limit=1&labelSelector=half=1&continue=${token}`);
    assert.deepEqual(names(second.body.items), ["b"]);
    assert.deepEqual(names((await send(registry, `DELETE ${path}?fieldSelector=metadata.name=d`)).body.items), ["d"]);
    assert.deepEqual(names((await send(registry, `GET ${path}`)).body.items), ["c"]);
  }));

test("deleting a collection stops at the first object that is rejected", () =>
  withNamespace(async ({ registry }) => {
    await send(registry, `POST ${path}`, { metadata: { name: "a" } });
    const { metadata } = (await send(registry, `GET ${path}/a`)).body;
    await send(registry, `POST ${path}`, { metadata: { name: "b" } });
    const { status, body } = await send(registry, `DELETE ${path}`, { preconditions: { uid: metadata.uid } });
    assert.equal(status, 409);
    assert.equal(body.details.name, "b");
    assert.deepEqual(names((await send(registry, `GET ${path}`)).body.items), ["b"]);
  }));

test("a collection of jobs warns once", () =>
  withNamespace(async ({ registry }) => {
    for (const name of ["a", "b"])
      await send(registry, `POST ${places.jobs}`, { ...bodyOf("jobs", []), metadata: { name } });
    const { status, warnings } = await send(registry, `DELETE ${places.jobs}`);
    assert.equal(status, 200);
    assert.equal(warnings.split("child pods").length, 2);
  }));

/** Errors are reported in this order: those of the list's parameters, then those of the deletion's options. */
const rejectionRows: [line: string, body: unknown, want: string][] = [
  [`${path}?labelSelector=((&dryRun=x`, undefined, "400 found '(', expected: !, identifier, or 'end of string'"],
  [
    `${path}?fieldSelector=spec.x=1`,
    { dryRun: ["x"] },
    '400 "spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  ],
  [
    `${path}?fieldSelector=spec.x=1&sendInitialEvents=true`,
    "{",
    '400 ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
  ],
  [
    `${path}/a`,
    { kind: "Pod", apiVersion: "v1" },
    '400 no kind "Pod" is registered for version "v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    `${path}/a`,
    { kind: "Pod" },
    '400 no kind "Pod" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
  ],
  [
    `${path}/a`,
    { kind: "Status", apiVersion: "x/v1" },
    "400 converting (v1.Status) to (v1.DeleteOptions): unknown conversion",
  ],
  [`${path}/a`, { kind: "ListOptions" }, "400 converting (v1.ListOptions) to (v1.DeleteOptions): unknown conversion"],
  [`${path}/a`, { kind: "DeleteOptions", apiVersion: "a/b/c" }, "400 unexpected GroupVersion string: a/b/c"],
  [`${path}/a`, { kind: "DeleteOptions", apiVersion: "x/v1" }, '404 configmaps "a" not found'],
  [
    `${path}/a`,
    { ignoreStoreReadErrorWithClusterBreakingPotential: true, dryRun: ["All"] },
    '404 configmaps "a" not found',
  ],
  [
    "/api/v1/namespaces/ns?uid=x",
    undefined,
    '409 Operation cannot be fulfilled on namespaces "ns": Precondition failed: UID in precondition: x, UID in object meta: UID',
  ],
  [
    `${path}/there?uid=x`,
    undefined,
    '409 Operation cannot be fulfilled on ConfigMap "there": the UID in the precondition (x) does not match the UID in record (UID). ' +
      "The object might have been deleted and then recreated",
  ],
];

for (const [line, body, want] of rejectionRows) {
  test(`DELETE ${line} ${JSON.stringify(body)}: ${want}`, () =>
    withNamespace(async ({ registry }) => {
      await send(registry, `POST ${path}`, { metadata: { name: "there" } });
      const { status, body: answer } = await send(registry, `DELETE ${line}`, body);
      assert.equal(`${status} ${answer.message}`.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, "UID"), want);
    }));
}

test("deletes the objects of a collection at a resourceVersion", () =>
  withNamespace(async ({ registry }) => {
    await send(registry, `POST ${path}`, { metadata: { name: "a" } });
    const { metadata } = (await send(registry, `GET ${path}`)).body;
    await send(registry, `POST ${path}`, { metadata: { name: "b" } });
    const body = { propagationPolicy: "Background" }; // Else the query's version is a precondition, too.
    const { body: deleted } = await send(registry, `DELETE ${path}?resourceVersion=${metadata.resourceVersion}`, body);
    assert.deepEqual(names(deleted.items), ["a"]);
    assert.deepEqual(names((await send(registry, `GET ${path}`)).body.items), ["b"]);
    const tooLarge = await send(registry, `DELETE ${path}?resourceVersion=9999999999999999999`, body);
    assert.deepEqual([tooLarge.status, tooLarge.body.details.retryAfterSeconds], [504, 1]);
  }));

/**
 * A namespace with content, and its `metadata.finalizers` after the deletion has started.
 */
const namespaceRows: [finalizers: string[], options: object, left: string[] | undefined][] = [
  [[], {}, undefined],
  [[], { propagationPolicy: "Background" }, undefined],
  [[], { propagationPolicy: "Foreground" }, ["foregroundDeletion"]],
  [["x/y"], { propagationPolicy: "Orphan" }, ["x/y", "orphan"]],
  [["orphan", "x/y"], { propagationPolicy: "Foreground" }, ["x/y", "foregroundDeletion"]],
  [["orphan"], {}, ["orphan"]],
  [[], { orphanDependents: false }, ["foregroundDeletion"]],
  [["x/y", "x/y"], {}, ["x/y", "x/y"]],
  [["x/y", "x/y"], { propagationPolicy: "Orphan" }, ["x/y", "orphan"]],
  [["foregroundDeletion"], { orphanDependents: true }, ["orphan"]],
];

for (const [finalizers, options, left] of namespaceRows) {
  test(`a namespace with finalizers [${finalizers}], deleted with ${JSON.stringify(options)}: ${left}`, async () => {
    const cluster = await openMemoryRegistry();
    try {
      const { registry } = cluster;
      await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n", finalizers } });
      const { status, body } = await send(registry, "DELETE /api/v1/namespaces/n", options);
      const answered = "orphanDependents" in options && options.orphanDependents === false ? 202 : 200;
      assert.deepEqual([status, body.status.phase, body.metadata.finalizers], [answered, "Terminating", left]);
      assert.equal(body.metadata.deletionGracePeriodSeconds, undefined);
      const again = await send(registry, "DELETE /api/v1/namespaces/n", { propagationPolicy: "Background" });
      assert.deepEqual(again.body, body, "what is going is not changed");
    } finally {
      await cluster.close();
    }
  });
}

test("a namespace without finalizers is removed at its second deletion", async () => {
  const cluster = await openMemoryRegistry();
  try {
    await cluster.create(["/namespaces", ""], { metadata: { name: "n" } });
    await cluster.change(["/namespaces", ""], "n", ({ spec }) => delete spec.finalizers, "finalize");
    const first = await send(cluster.registry, "DELETE /api/v1/namespaces/n");
    assert.deepEqual([first.status, first.body.kind, first.body.status.phase], [200, "Namespace", "Terminating"]);
    const second = await send(cluster.registry, "DELETE /api/v1/namespaces/n");
    assert.deepEqual([second.status, second.body.kind], [200, "Namespace"]);
    assert.equal((await send(cluster.registry, "GET /api/v1/namespaces/n")).status, 404);
  } finally {
    await cluster.close();
  }
});

/** Seconds that a pod is given, and in how many it ends. */
const longRows: [seconds: number, endsIn: number][] = [
  [3600, 3600],
  [9_223_372_036, 9_223_372_036],
  [9_223_372_037, -9_223_372_037],
  [99_999_999_999, 7_766_279_631],
  [Number.MAX_SAFE_INTEGER, 4_611_686_017],
];

for (const [seconds, endsIn] of longRows) {
  test(`a pod deleted with ${seconds} seconds ends in ${endsIn}`, async () => {
    const clock = manualClock(Date.parse("2026-01-01T00:00:00Z"));
    const cluster = await openMemoryRegistry({ clock });
    try {
      await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
      const pods = "/api/v1/namespaces/ns/pods";
      const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
      await send(cluster.registry, `POST ${pods}`, { metadata: { name: "a" }, spec });
      const { metadata } = (await send(cluster.registry, `DELETE ${pods}/a?gracePeriodSeconds=${seconds}`)).body;
      assert.equal(metadata.deletionGracePeriodSeconds, seconds);
      assert.ok(Math.abs((Date.parse(metadata.deletionTimestamp) - clock.now()) / 1000 - endsIn) <= 1);
    } finally {
      await cluster.close();
    }
  });
}

/** After a pod with 30 seconds, `passed` seconds later with others. */
const shortenedRows: [passed: number, asked: number, seconds: number, endsIn: number][] = [
  [10, 20, 20, 10],
  [10, 10, 10, 0],
  [10, 5, 1, 0],
  [10, 1, 1, 0],
  [40, 5, 1, 0],
];

for (const [passed, asked, seconds, endsIn] of shortenedRows) {
  test(`a pod deleted with 30 seconds, and ${passed} s later with ${asked}: ${seconds}, and ends in ${endsIn} s`, async () => {
    const clock = manualClock(Date.parse("2026-01-01T00:00:00Z"));
    const cluster = await openMemoryRegistry({ clock });
    try {
      await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
      const pods = "/api/v1/namespaces/ns/pods";
      const spec = { nodeName: "n", containers: [{ name: "c", image: "i" }] };
      await send(cluster.registry, `POST ${pods}`, { metadata: { name: "a" }, spec });
      await send(cluster.registry, `DELETE ${pods}/a`);
      clock.advance(passed * 1000);
      const { metadata } = (await send(cluster.registry, `DELETE ${pods}/a?gracePeriodSeconds=${asked}`)).body;
      assert.equal(metadata.deletionGracePeriodSeconds, seconds);
      assert.equal((Date.parse(metadata.deletionTimestamp) - clock.now()) / 1000, endsIn);
    } finally {
      await cluster.close();
    }
  });
}

/** Kinds whose PUT creates what is missing. */
const creatable = [
  "/api/v1/namespaces/ns/services",
  "/api/v1/namespaces/ns/events",
  "/apis/coordination.k8s.io/v1/namespaces/ns/leases",
];

for (const place of creatable) {
  test(`a patch does not create: ${place}`, () =>
    withNamespace(async ({ registry }) => {
      for (const type of ["MERGE", "STRATEGIC"])
        assert.equal((await send(registry, `${type} ${place}/a`, { metadata: { name: "a" } })).status, 404);
      assert.equal(
        (await send(registry, `JSON ${place}/a`, [{ op: "remove", path: "/metadata/finalizers" }])).status,
        404,
      );
    }));
}

const policyRules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }];
const policySpec = { matchConstraints: { resourceRules: policyRules }, validations: [{ expression: "true" }] };

/** Whether a kind takes finalizers that do not name whose they are. */
const finalizerRows: [place: string, body: object, takes: boolean][] = [
  [path, {}, false],
  ["/apis/storage.k8s.io/v1/storageclasses", { provisioner: "x" }, false],
  ["/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {}, true],
  ["/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", { spec: policySpec }, true],
  ["/apis/coordination.k8s.io/v1/namespaces/ns/leases", {}, true],
  ["/apis/node.k8s.io/v1/runtimeclasses", { handler: "x" }, true],
  ["/apis/policy/v1/namespaces/ns/poddisruptionbudgets", { spec: { minAvailable: 1 } }, true],
];

for (const [place, body, takes] of finalizerRows) {
  test(`a finalizer without a domain: ${place} ${takes ? "accepts" : "rejects"} it`, () =>
    withNamespace(async ({ registry }) => {
      const { status, body: answer } = await send(registry, `POST ${place}`, {
        metadata: { name: "a", finalizers: ["bad"] },
        ...body,
      });
      assert.equal(status, takes ? 201 : 422, answer.message);
      if (takes) {
        const changed = await send(registry, `MERGE ${place}/a`, { metadata: { finalizers: ["bad", "worse"] } });
        assert.equal(changed.status, 200, changed.body.message);
      }
    }));
}
