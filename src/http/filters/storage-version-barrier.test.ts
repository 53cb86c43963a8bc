/** Which requests wait for the storage versions of a server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../apimachinery/errors.ts";
import type { RequestState } from "../../request/context.ts";
import { requestInfo } from "../../request/request-info.ts";
import { storageVersionBarrier } from "./storage-version-barrier.ts";

const pods = "/api/v1/namespaces/default/pods";
const rows: [request: string, rejection: string | undefined][] = [
  [`GET ${pods}`, undefined],
  ["GET /healthz", undefined],
  [`POST ${pods}`, "pods, last seen error: <nil>"],
  [`PUT ${pods}/a/status`, "pods, last seen error: <nil>"],
  ["DELETE /apis/apps/v1/namespaces/default/deployments/a", "deployments.apps, last seen error: the store is full"],
  ["POST /apis/example.com/v1/namespaces/default/things", undefined],
  ["PUT /apis/internal.apiserver.k8s.io/v1alpha1/storageversions/core.pods/status", undefined],
  ["PUT /apis/coordination.k8s.io/v1/namespaces/kube-system/leases/a", undefined],
  [
    "PUT /apis/coordination.k8s.io/v1/namespaces/default/leases/a",
    "leases.coordination.k8s.io, last seen error: <nil>",
  ],
];
const problems: Readonly<Record<string, string>> = {
  pods: "<nil>",
  deployments: "the store is full",
  leases: "<nil>",
  storageversions: "<nil>",
};

for (const [request, rejection] of rows) {
  test(`${request} ${rejection === undefined ? "passes" : "waits"}`, () => {
    const [method = "", target = ""] = request.split(" ");
    const info = requestInfo(method, target);
    const context = { info } as RequestState;
    const pass = (isPending: boolean): unknown =>
      storageVersionBarrier(() => ({ problem: ({ resource }) => (isPending ? problems[resource] : undefined) }))(
        context,
      );
    assert.equal(pass(false), undefined);
    if (rejection === undefined) return assert.equal(pass(true), undefined);
    const text = `wait for storage version registration to complete for resource: ${rejection}`;
    assert.throws(
      () => pass(true),
      (error) => error instanceof ApiError && error.status.code === 503 && error.message === text,
    );
  });
}
