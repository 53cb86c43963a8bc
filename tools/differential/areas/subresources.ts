/** Subresources: scale, eviction, binding, token, ephemeralcontainers, resize, approval, finalize, and their patches. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { kindOf } from "../samples.ts";
import { evictions, podWrites } from "./pod-subresources.ts";
import { changedSample, create, patchTypes, pathOf, query, writeQuery } from "./steps.ts";

type Make = (random: Random) => Step[];

export const subresources: Area = {
  name: "subresources",
  make: (random) => random.pick(makers)(random),
};

function repeated(count: number, make: () => Step): Step[] {
  return Array.from({ length: count }, make);
}

const scale: Make = (random) => {
  const kind = kindOf(random.pick(["deployments", "replicasets", "statefulsets", "replicationcontrollers"]));
  const path = `${pathOf(kind)}/scale`;
  const replicas = (): unknown => random.pick<unknown>([0, 1, 3, -1, 2_147_483_648, "1", null, 1.5]);
  const version = (): object =>
    random.chance(0.3) ? { resourceVersion: random.pick(["{{first.metadata.resourceVersion}}", "1", ""]) } : {};
  return [
    create(kind, random.pick(kind.samples).object, "first"),
    ...repeated(8, (): Step => {
      const roll = random.below(6);
      if (roll < 2)
        return {
          method: "GET",
          path,
          headers: {
            accept: random.pick([
              "application/json",
              "application/yaml",
              "application/vnd.kubernetes.protobuf",
              "application/json;as=Table;g=meta.k8s.io;v=v1",
            ]),
          },
        };
      if (roll < 4)
        return {
          method: "PUT",
          path: `${path}${writeQuery(random)}`,
          body: {
            kind: random.chance(0.9) ? "Scale" : kind.kind,
            apiVersion: random.pick(["autoscaling/v1", "autoscaling/v1", "autoscaling/v1", "v1"]),
            metadata: { name: random.chance(0.9) ? "a" : "b", ...version() },
            spec: { replicas: replicas() },
          },
        };
      const type = random.pick(["merge", "strategic", "json", "apply"] as const);
      const body =
        type === "json"
          ? [{ op: random.pick(["replace", "add", "test", "remove"]), path: "/spec/replicas", value: replicas() }]
          : {
              ...(type === "apply" && { kind: "Scale", apiVersion: "autoscaling/v1" }),
              spec: { replicas: replicas() },
            };
      return {
        method: "PATCH",
        path: `${path}${query(type === "apply" && "fieldManager=m&force=true")}`,
        headers: { "content-type": patchTypes[type] },
        body,
      };
    }),
  ];
};

const tokens: Make = (random) => {
  const path = "/api/v1/namespaces/$ns/serviceaccounts/default/token";
  return repeated(6, () => {
    const audiences = random.pick<unknown>([undefined, ["a"], ["a", "a"], [""], []]);
    const expirationSeconds = random.pick<unknown>([undefined, 600, 599, 3600, 4294967296, 4294967297, 0, -1, "1"]);
    const boundObjectRef = random.pick<unknown>([
      undefined,
      undefined,
      { kind: "Pod", apiVersion: "v1", name: "a" },
      { kind: "Secret", apiVersion: "v1", name: "a" },
      { kind: "Other", apiVersion: "v1", name: "a" },
      { kind: "Node", apiVersion: "v1", name: "n" },
      {},
    ]);
    const body = {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      ...(random.chance(0.1) && { metadata: { name: "other" } }),
      spec: { audiences, expirationSeconds, boundObjectRef },
    };
    return { method: random.chance(0.9) ? "POST" : "GET", path: `${path}${writeQuery(random)}`, body };
  });
};

const namespaces: Make = (random) => {
  const kind = kindOf("namespaces");
  const path = pathOf(kind);
  return [
    create(kind, { apiVersion: "v1", kind: "Namespace", metadata: { name: "$ns-a" } }, "first"),
    ...repeated(7, (): Step => {
      const roll = random.below(6);
      const spec = { finalizers: random.pick<unknown>([[], ["kubernetes"], ["example.com/a"], ["a"], [""], null]) };
      if (roll < 2)
        return {
          method: "PUT",
          path: `${path}/finalize${writeQuery(random)}`,
          body: { apiVersion: "v1", kind: "Namespace", metadata: { name: "$ns-a" }, spec },
        };
      if (roll < 3) return { method: "DELETE", path };
      if (roll < 4)
        return { method: "POST", path: "/api/v1/namespaces/$ns-a/configmaps", body: { metadata: { name: "a" } } };
      if (roll < 5)
        return {
          method: "PUT",
          path: `${path}/status`,
          body: {
            apiVersion: "v1",
            kind: "Namespace",
            metadata: { name: "$ns-a" },
            status: { phase: random.pick(["Active", "Terminating", "Other"]) },
          },
        };
      return { method: "GET", path };
    }),
  ];
};

const statuses: Make = (random) => {
  const withStatus = [
    "deployments",
    "daemonsets",
    "jobs",
    "cronjobs",
    "services",
    "nodes",
    "persistentvolumes",
    "persistentvolumeclaims",
    "resourcequotas",
    "horizontalpodautoscalers",
    "poddisruptionbudgets",
    "ingresses",
    "replicasets",
    "statefulsets",
    "resourceclaims",
    "volumeattachments",
  ];
  const kind = kindOf(random.pick(withStatus));
  const sample = random.pick(kind.samples);
  const path = `${pathOf(kind)}/status`;
  return [
    create(kind, sample.object, "first"),
    ...repeated(8, (): Step => {
      const roll = random.below(6);
      if (roll < 4)
        return {
          method: "PUT",
          path: `${path}${writeQuery(random)}`,
          body: changedSample(sample, kind, "status", random, { unchanged: 0.2 }),
        };
      if (roll < 5) return { method: "GET", path: random.chance(0.5) ? path : pathOf(kind) };
      const { status = {} } = changedSample(sample, kind, "status", random) as { status?: unknown };
      return {
        method: "PATCH",
        path,
        headers: { "content-type": random.pick([patchTypes.merge, patchTypes.strategic]) },
        body: { status },
      };
    }),
  ];
};

const makers: readonly Make[] = [scale, podWrites, podWrites, evictions, tokens, namespaces, statuses, statuses];
