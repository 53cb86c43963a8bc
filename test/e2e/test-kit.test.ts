/** The test kit over a real server: fixtures, clients, builders, checks and copies for snapshots. */
import assert from "node:assert/strict";
import * as runner from "node:test";
import * as k8s from "@kubernetes/client-node";
import {
  appliedBy,
  type Clock,
  configMap,
  customResourceDefinition,
  deployment,
  eventually,
  type FaultHandle,
  hasCondition,
  job,
  namespace,
  noFurtherWrites,
  object,
  ownedBy,
  pod,
  secret,
  service,
  serviceAccount,
  stable,
  startTestServer,
  type TimelineRequest,
  useTestServer,
} from "../../src/testing/index.ts";

const { describe, test } = runner;
const kit = useTestServer(runner);

const created = async (path: string, body: object): Promise<ReturnType<typeof JSON.parse>> => {
  const response = await kit.server.fetch(path, { method: "POST", body });
  const answer = await response.json();
  assert.equal(response.status, 201, answer.message);
  return answer;
};

/** @returns a function that waits until it has been called so often */
function meeting(size: number): () => Promise<void> {
  const all = Promise.withResolvers<void>();
  let arrived = 0;
  return () => {
    if (++arrived === size) all.resolve();
    return all.promise;
  };
}

describe("builders make objects that the server accepts", () => {
  const rows: readonly (readonly [path: string, built: object])[] = [
    ["api/v1", namespace("shop")],
    ["api/v1/namespaces/default/configmaps", configMap("a", { data: { a: "b" } })],
    ["api/v1/namespaces/default/secrets", secret("a", { stringData: { a: "b" } })],
    ["api/v1/namespaces/default/serviceaccounts", serviceAccount("a")],
    ["api/v1/namespaces/default/services", service("a")],
    ["api/v1/namespaces/default/pods", pod("a", { metadata: { labels: { a: "b" } } })],
    ["apis/apps/v1/namespaces/default/deployments", deployment("a", { spec: { replicas: 3 } })],
    ["apis/batch/v1/namespaces/default/jobs", job("a")],
    ["apis/apiextensions.k8s.io/v1/customresourcedefinitions", customResourceDefinition("as.example.com", "A")],
    ["apis/scheduling.k8s.io/v1/priorityclasses", object("scheduling.k8s.io/v1", "PriorityClass", "a", { value: 1 })],
  ];
  for (const [path, built] of rows)
    test(path, async () => {
      const response = await kit.server.fetch(`/${path === "api/v1" ? "api/v1/namespaces" : path}?dryRun=All`, {
        method: "POST",
        body: built,
      });
      assert.equal(response.status, 201, await response.text());
    });

  test("merges fields: members one by one, lists as a whole, undefined removes", () => {
    const built = service("a", {
      metadata: { labels: { a: "b" } },
      spec: { selector: undefined, ports: [{ port: 1 }] },
    });
    assert.deepEqual(built, {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a", labels: { a: "b" } },
      spec: { ports: [{ port: 1 }] },
    });
  });

  test("their types are those of client-node", async () => {
    const config = await kit.server.kubeConfig(k8s.KubeConfig);
    const body = deployment("typed", { spec: { template: { spec: { nodeSelector: { a: "b" } } } } });
    const answer = await config.makeApiClient(k8s.AppsV1Api).createNamespacedDeployment({ namespace: "default", body });
    assert.equal(answer.spec?.template.spec?.containers[0]?.name, "main");
  });
});

describe("clients", () => {
  test("fetch sends objects as JSON, and patches as merge patches", async () => {
    const path = "/api/v1/namespaces/default/configmaps";
    await created(path, configMap("patched", { data: { a: "b" } }));
    const patch = { method: "PATCH", body: { data: { c: "d" } } };
    const answer = await (await kit.server.fetch(`${path}/patched`, patch)).json();
    assert.deepEqual(answer.data, { a: "b", c: "d" });
  });

  test("fetch and kubeconfigs have the rights of their user", async () => {
    const path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    const review = { method: "POST", body: {} };
    const as = { user: "ann", groups: ["dev", "ops"] };
    const answer = await (await kit.server.fetch(path, { ...review, as })).json();
    assert.equal(answer.status.userInfo.username, "ann");
    assert.deepEqual(answer.status.userInfo.groups, ["dev", "ops", "system:authenticated"]);
    const anonymous = await kit.server.fetch("/api/v1/nodes", { as: "anonymous" });
    assert.match((await anonymous.json()).message, /User "system:anonymous" cannot list/);
    const config = await kit.server.kubeConfig(k8s.KubeConfig, as);
    await assert.rejects(config.makeApiClient(k8s.CoreV1Api).listNode(), /nodes is forbidden/);
  });

  test("fetch sends no credentials to other servers", async () => {
    for (const path of ["https://example.com/", "example.com", ""])
      await assert.rejects(kit.server.fetch(path), /the path must start with "\/"/);
    // A URL's path can start with two slashes; it is still this server that answers.
    assert.equal((await kit.server.fetch("//example.com/")).status, 404);
    for (const user of ["", undefined] as string[])
      await assert.rejects(kit.server.kubeconfigFor({ user }), /a user needs a name/);
  });

  test("a watch can be read while it runs, and ended", async () => {
    const ended = new AbortController();
    const path = "/api/v1/namespaces?watch=1";
    const { body } = await kit.server.fetch(path, { signal: ended.signal });
    const name = await kit.namespace();
    await assert.rejects(async () => {
      for await (const piece of body ?? []) if (Buffer.from(piece).toString().includes(`"${name}"`)) ended.abort();
    }, /abort/);
  });

  test("a request does not wait for the end of hundreds of watches", async () => {
    const ended = new AbortController();
    const open = Array.from({ length: 260 }, () => kit.server.fetch("/api/v1/nodes?watch=1", { signal: ended.signal }));
    await Promise.all(open);
    assert.equal((await kit.server.fetch("/version")).status, 200);
    ended.abort();
  });

  test("a server closes while a watch of its clients is open", async () => {
    const server = await startTestServer();
    const { body } = await server.fetch("/api/v1/namespaces?watch=1");
    await server.close();
    await assert.doesNotReject(async () => {
      for await (const _ of body ?? []);
    });
    await assert.rejects(server.fetch("/version"), /ECONNREFUSED/);
  });
});

describe("namespaces of tests", () => {
  let former = "";
  test("are created", async () => {
    former = await kit.namespace();
    assert.equal((await kit.server.fetch(`/api/v1/namespaces/${former}`)).status, 200);
    await created(`/api/v1/namespaces/${former}/pods`, pod("web")); // Its ServiceAccount is there, or arrives in time.
  });

  test("are deleted after their test", async () => {
    await eventually(async () => (await kit.server.fetch(`/api/v1/namespaces/${former}`)).status === 404);
  });

  test("can be deleted by their test", async () => {
    const path = `/api/v1/namespaces/${await kit.namespace()}`;
    assert.equal((await kit.server.fetch(path, { method: "DELETE" })).status, 200);
    await eventually(async () => (await kit.server.fetch(path)).status === 404);
  });

  test("belong to the innermost of nested tests", async (t) => {
    const outer = await kit.namespace();
    let inner = "";
    await t.test("nested", async () => {
      inner = await kit.namespace();
    });
    await eventually(async () => (await kit.server.fetch(`/api/v1/namespaces/${inner}`)).status === 404);
    const { status } = await (await kit.server.fetch(`/api/v1/namespaces/${outer}`)).json();
    assert.equal(status.phase, "Active");
  });

  describe("of concurrent tests", { concurrency: true }, () => {
    const [started, checked] = [meeting(2), meeting(2)];
    for (const name of ["one", "two"])
      test(name, async (t) => {
        await started();
        assert.match(await kit.namespace(t), /^test-\d+$/);
        await assert.rejects(kit.namespace(), /several tests run now/);
        await assert.rejects(kit.namespace({}), /not the context of a test/);
        await checked();
      });
  });
});

describe("rules of faults", () => {
  const { before, after } = runner;
  const add = (name: string): FaultHandle =>
    kit.server.faults.add({ name, optional: true }, { type: "latency", ms: 0 });
  const names = (): unknown[] => kit.server.faults.list().map(({ rule }) => rule.name);
  let shared: FaultHandle;
  let former = "";
  before(() => {
    shared = add("of-all");
  });
  after(() => shared.remove());

  test("can make all requests fail", async () => {
    former = await kit.namespace();
    kit.server.faults.add({}, { type: "internalError" });
    assert.equal((await kit.server.fetch("/version")).status, 500);
  });

  test("end with their test, also before its namespace is deleted", async () => {
    assert.deepEqual(names(), ["of-all"]);
    await eventually(async () => (await kit.server.fetch(`/api/v1/namespaces/${former}`)).status === 404);
  });

  test("end with the innermost of nested tests", async (t) => {
    add("of-the-outer");
    await t.test("nested", () => void add("of-the-inner"));
    assert.deepEqual(names(), ["of-all", "of-the-outer"]);
  });

  describe("of concurrent tests", { concurrency: true }, () => {
    const added = meeting(2);
    const ended = Promise.withResolvers<void>();
    test("stay until all end that can have added them", async () => {
      await added();
      await ended.promise;
      assert.deepEqual(names(), ["of-all", "of-a-test"]);
    });
    test("are added by one of them", async (t) => {
      t.after(() => ended.resolve());
      add("of-a-test");
      await added();
    });
  });

  test("are gone after concurrent tests", () => assert.deepEqual(names(), ["of-all"]));
});

describe("checks", () => {
  test("ownedBy, hasCondition and appliedBy pass for objects of the server", async () => {
    const namespace = await kit.namespace();
    const at = `/api/v1/namespaces/${namespace}/configmaps`;
    const owner = await created(at, configMap("owner", { data: { a: "b" } }));
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.metadata.uid, controller: true };
    const owned = await created(at, configMap("owned", { metadata: { ownerReferences: [reference] } }));
    ownedBy(owned, owner);
    ownedBy(owned, owner, { controller: true });
    assert.throws(() => ownedBy(owned, owner, { controller: false }), /is not owned by ConfigMap "owner"/);
    assert.throws(() => ownedBy(owner, owned), /Its owners: none/);

    const headers = { "content-type": "application/apply-patch+yaml" };
    const body = { ...configMap("applied", { data: { a: "b" } }) };
    const answer = await kit.server.fetch(`${at}/applied?fieldManager=me`, { method: "PATCH", headers, body });
    const applied = await answer.json();
    appliedBy(applied, "me", { fields: ["data.a"] });
    assert.throws(() => appliedBy(applied, "me", { fields: ["data.b"] }), /"me" does not own data.b of ConfigMap/);
    assert.throws(() => appliedBy(applied, "you"), /has no Apply by "you". It has: Apply by "me"/);
    appliedBy(owner, "coxswain-testing", { operation: "Update" });

    const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const { metadata } = await created(definitions, customResourceDefinition("widgets.example.com", "Widget"));
    await eventually(async () => {
      const definition = await (await kit.server.fetch(`${definitions}/${metadata.name}`)).json();
      assert.equal(hasCondition(definition, "Established").status, "True");
    });
  });

  const conditions = [{ type: "Ready", status: "False", reason: "Waiting", message: "for the moon" }];
  const waiting = { kind: "Widget", metadata: { name: "a", namespace: "b" }, status: { conditions } };

  test("hasCondition lists the conditions that an object has", () => {
    assert.equal(hasCondition(waiting, "Ready", { status: "False", message: /moon/ }).reason, "Waiting");
    assert.throws(() => hasCondition(waiting, "Ready"), {
      message:
        'Widget "a" in "b" has no condition Ready with status=True. Its conditions: Ready=False (Waiting: for the moon)',
    });
    assert.throws(() => hasCondition({}, "Ready", { reason: "x" }), /status=True, reason=x. Its conditions: none/);
  });

  test("eventually returns what the check returns, and throws its last failure", async () => {
    let calls = 0;
    assert.equal(await eventually(() => ++calls > 2 && calls), 3);
    await assert.rejects(
      eventually(
        () => {
          throw new Error("not yet");
        },
        { timeoutMs: 20 },
      ),
      /did not pass within 20 ms, in \d+ checks. Last failure: not yet/,
    );
    await assert.rejects(
      eventually(() => new Promise(() => {}), { timeoutMs: 20 }),
      /the check did not end/,
    );
    await assert.rejects(
      eventually(() => false, { timeoutMs: 0 }),
      /in 1 checks. Last failure: the check returned false/,
    );
  });
});

/** A clock whose time is over when the work is done. */
function endingWith(work: Promise<unknown>): Pick<Clock, "after"> {
  return {
    after(_delayMs, run) {
      work.then(run);
      return () => {};
    },
  };
}

describe("noFurtherWrites", () => {
  test("passes when clients only read, and renew Leases", async () => {
    const server = await startTestServer();
    try {
      const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
      const work = Promise.all([
        server.fetch("/api/v1/pods"),
        server.fetch(path, { method: "POST", body: object("coordination.k8s.io/v1", "Lease", "a") }),
        server.fetch("/api/v1/namespaces?dryRun=All", { method: "POST", body: namespace("dry") }),
      ]);
      await noFurtherWrites(server, { clock: endingWith(work), timeoutMs: 0 });
    } finally {
      await server.close();
    }
  });

  test("names the writers and their requests", async () => {
    const name = await kit.namespace();
    const path = `/api/v1/namespaces/${name}/configmaps`;
    const body = configMap("a");
    const work = Promise.all([1, 2, 3].map(() => kit.server.fetch(path, { method: "POST", body })));
    const where = (request: TimelineRequest): boolean => request.namespace === name;
    await assert.rejects(noFurtherWrites(kit.server, { clock: endingWith(work), timeoutMs: 0, where }), {
      message: `3 writes in 500 ms:
  2 × create configmaps in "${name}" (409) by kubernetes-admin with "coxswain-testing"
  1 × create configmaps in "${name}" (201) by kubernetes-admin with "coxswain-testing"`,
    });
  });
});

test("stable copies of the same objects on two servers are equal", async () => {
  const other = await startTestServer();
  try {
    const copies = await Promise.all(
      [kit.server, other].map(async (server, at) => {
        const namespace = `stable-${at}`;
        await server.fetch("/api/v1/namespaces", { method: "POST", body: { metadata: { name: namespace } } });
        const create = async (path: string, body: object) =>
          (await server.fetch(`/api/v1/namespaces/${namespace}/${path}`, { method: "POST", body })).json();
        const generated = await create("pods", pod("", { metadata: { name: undefined, generateName: "web-" } }));
        const { uid, name } = generated.metadata;
        const event = { metadata: { name: `${name}.1` }, involvedObject: { kind: "Pod", name, namespace, uid } };
        const list = [generated, await create("events", event), await create("services", service("web"))];
        return stable(list, { names: { [namespace]: "<namespace>" } });
      }),
    );
    assert.deepEqual(copies[0], copies[1]);
    const [copy, event, served] = copies[0] as ReturnType<typeof JSON.parse>[];
    assert.equal(copy.metadata.name, "web-<name-1>");
    assert.equal(event.involvedObject.uid, copy.metadata.uid);
    assert.equal(event.metadata.name, "web-<name-1>.1");
    assert.equal(served.spec.clusterIP, "<ip-1>");
    assert.equal(copy.metadata.managedFields, undefined);
  } finally {
    await other.close();
  }
});
