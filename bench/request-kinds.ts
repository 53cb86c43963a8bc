/** Requests for ConfigMaps of 1 KB, as benches send them. */
import type { BenchRequest } from "./client.ts";

export const collection = "/api/v1/namespaces/bench/configmaps";
const payload = "x".repeat(1024);

/** One request for each index. */
export interface RequestKind {
  readonly status: number;
  of(index: number): BenchRequest;
}

/** By name. */
export const requestKinds: Readonly<Record<RequestName, RequestKind>> = {
  create: { status: 201, of: (i) => ({ method: "POST", path: collection, body: configMap(i, "0") }) },
  get: { status: 200, of: (i) => ({ method: "GET", path: named(i) }) },
  update: { status: 200, of: (i) => ({ method: "PUT", path: named(i), body: configMap(i, "1") }) },
  patch: {
    status: 200,
    of: (i) => ({
      method: "PATCH",
      path: named(i),
      contentType: "application/merge-patch+json",
      body: JSON.stringify({ data: { extra: "2" } }),
    }),
  },
  apply: {
    status: 200,
    of: (i) => ({
      method: "PATCH",
      path: `${named(i)}?fieldManager=bench&force=true`,
      contentType: "application/apply-patch+yaml",
      body: JSON.stringify({
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: nameOf(i) },
        data: { applied: String(i) },
      }),
    }),
  },
  delete: { status: 200, of: (i) => ({ method: "DELETE", path: named(i) }) },
};

/** In the order in which each finds its objects. */
export const requestNames = ["create", "get", "update", "patch", "apply", "delete"] as const;

export type RequestName = (typeof requestNames)[number];

/** The namespace of the objects must exist. */
export const namespace: BenchRequest = {
  method: "POST",
  path: "/api/v1/namespaces",
  body: JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name: "bench" } }),
};

const nameOf = (index: number): string => `cm-${String(index).padStart(6, "0")}`;
const named = (index: number): string => `${collection}/${nameOf(index)}`;
const configMap = (index: number, extra: string): string =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: nameOf(index), labels: { app: "bench" } },
    data: { payload, extra },
  });
