/** Requests of every type, on built-in and custom resources, with subresources and options. */
import type { AdmissionRequest, Sent } from "../../../../../test/support/admission-golden.ts";
import { core, request } from "./builders.ts";
import { group, widget, widgets } from "./custom-resources.ts";

const json = "application/json-patch+json";
const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";
const apply = "application/apply-patch+yaml";

/** @param ns a namespace without objects; its name is the prefix of names of cluster-scoped objects */
export function everyRequest(ns: string): AdmissionRequest[] {
  return [
    ...configMaps(ns),
    ...removals(ns),
    ...pods(ns),
    ...deployments(ns),
    ...customResources(ns),
    ...coreResources(ns),
    ...clusterResources(ns),
    ...otherGroups(ns),
  ];
}

function configMaps(ns: string): AdmissionRequest[] {
  const all = core(ns, "configmaps");
  const one = core(ns, "configmaps", "one");
  const applied = (name: string, data: Sent): Sent => ({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name },
    data,
  });
  return [
    request(`POST ${all}`, { metadata: { name: "one", labels: { app: "one" } }, data: { a: "1" } }),
    request(`POST ${all}`, { metadata: { generateName: "generated-" } }),
    request(`POST ${all}?dryRun=All`, { metadata: { generateName: "generated-" } }),
    request(`POST ${all}?dryRun=All&fieldValidation=Strict&fieldManager=m`, { metadata: { name: "two" } }),
    request(`POST ${all}?fieldValidation=Ignore`, { metadata: { name: "two" }, immutable: false }),
    request(`POST ${all}`, { metadata: { name: "one" } }),
    request(`POST ${all}`, { metadata: { name: "Not_Valid" } }),
    request(`PUT ${one}`, { metadata: { name: "one" }, data: { a: "2" } }),
    request(`PUT ${one}?dryRun=All&fieldManager=m`, { metadata: { name: "one" }, data: { a: "3" } }),
    request(`PUT ${core(ns, "configmaps", "absent")}`, { metadata: { name: "absent" } }),
    request(`PUT ${one}`, { metadata: { name: "one", resourceVersion: "1" } }),
    request(`PATCH ${one}`, { data: { b: "1" } }, merge),
    request(`PATCH ${one}?dryRun=All`, { data: { b: null } }, merge),
    request(`PATCH ${one}`, [{ op: "add", path: "/data/c", value: "<&>" }], json),
    request(`PATCH ${one}`, { metadata: { labels: { d: "1" } } }, strategic),
    request(`PATCH ${one}`, { data: { b: "1" } }, merge),
    request(`PATCH ${one}?fieldManager=applier`, applied("one", { e: "1" }), apply),
    request(`PATCH ${one}?fieldManager=applier`, applied("one", { a: "9" }), apply),
    request(`PATCH ${one}?fieldManager=applier&force=true`, applied("one", { a: "9" }), apply),
    request(`PATCH ${core(ns, "configmaps", "applied")}?fieldManager=applier`, applied("applied", { e: "1" }), apply),
    request(
      `PATCH ${core(ns, "configmaps", "dry")}?fieldManager=applier&dryRun=All`,
      applied("dry", { e: "1" }),
      apply,
    ),
    request(`PATCH ${core(ns, "configmaps", "absent")}`, { data: {} }, merge),
  ];
}

function removals(ns: string): AdmissionRequest[] {
  const all = core(ns, "configmaps");
  const one = core(ns, "configmaps", "one");
  const options = { apiVersion: "v1", kind: "DeleteOptions" };
  return [
    request(`DELETE ${one}?dryRun=All`),
    request(`DELETE ${one}`, { ...options, gracePeriodSeconds: 0, propagationPolicy: "Background", dryRun: ["All"] }),
    request(`DELETE ${one}`, { ...options, preconditions: { uid: "other" } }),
    request(`DELETE ${one}?propagationPolicy=Orphan`),
    request(`DELETE ${one}`),
    request(`DELETE ${core(ns, "configmaps", "absent")}`),
    request(`POST ${all}`, { metadata: { name: "kept", finalizers: ["example.com/keep"] } }),
    request(`DELETE ${core(ns, "configmaps", "kept")}`),
    request(`DELETE ${core(ns, "configmaps", "kept")}`),
    request(`PATCH ${core(ns, "configmaps", "kept")}`, { metadata: { finalizers: null } }, merge),
    request(`DELETE ${all}?labelSelector=app%3Dnone`),
    request(`DELETE ${all}?fieldSelector=metadata.name%3Dtwo&dryRun=All`),
    request(`DELETE ${all}?fieldSelector=metadata.name%3Dtwo`, { ...options, propagationPolicy: "Foreground" }),
    request(`DELETE ${all}?fieldSelector=metadata.name%3Dapplied`),
    request(`GET ${all}?labelSelector=app%3Dnone`),
  ];
}

function pods(ns: string): AdmissionRequest[] {
  const spec = { containers: [{ name: "main", image: "example.com/main:1" }] };
  const one = core(ns, "pods", "one");
  const binding = { metadata: { name: "one" }, target: { apiVersion: "v1", kind: "Node", name: "absent" } };
  const eviction = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "one" } };
  const debug = { name: "debug", image: "example.com/debug:1", targetContainerName: "main" };
  const resources = { requests: { cpu: "1" } };
  return [
    request(`POST ${core(ns, "pods")}`, { metadata: { name: "one" }, spec }),
    request(`PATCH ${one}/status`, { status: { message: "ready" } }, merge),
    request(`PATCH ${one}/ephemeralcontainers`, { spec: { ephemeralContainers: [debug] } }, strategic),
    request(`PATCH ${one}/resize`, { spec: { containers: [{ name: "main", resources }] } }, strategic),
    request(`GET ${one}/exec?command=ls&container=main&stdout=true&stdin=true&tty=true`),
    request(`POST ${one}/attach?container=main&stderr=true`),
    request(`POST ${one}/portforward?ports=8080`),
    request(`GET ${one}/proxy/some/path`),
    request(`GET ${core(ns, "pods", "absent")}/exec?command=ls`),
    request(`POST ${one}/eviction?dryRun=All`, eviction),
    request(`POST ${one}/binding`, binding),
    request(`POST ${core(ns, "bindings")}?dryRun=All`, binding),
    request(`POST ${one}/eviction`, { ...eviction, deleteOptions: { gracePeriodSeconds: 0 } }),
    request(`DELETE ${one}?gracePeriodSeconds=0`),
  ];
}

function deployments(ns: string): AdmissionRequest[] {
  const all = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const template = {
    metadata: { labels: { app: "one" } },
    spec: { containers: [{ name: "main", image: "example.com/main:1" }] },
  };
  const spec = { selector: { matchLabels: { app: "one" } }, template };
  const scale = {
    apiVersion: "autoscaling/v1",
    kind: "Scale",
    metadata: { name: "one", namespace: ns },
    spec: { replicas: 3 },
  };
  return [
    request(`POST ${all}`, { metadata: { name: "one" }, spec }),
    request(`PUT ${all}/one/scale`, scale),
    request(`PATCH ${all}/one/scale`, { spec: { replicas: 2 } }, merge),
    request(`PATCH ${all}/one/scale?fieldManager=scaler&force=true`, { ...scale, spec: { replicas: 4 } }, apply),
    request(`PUT ${all}/one/scale?dryRun=All`, scale),
    request(`PATCH ${all}/one/status`, { status: { replicas: 1, readyReplicas: 1 } }, merge),
    request(`PATCH ${all}/one`, { spec: { paused: true } }, strategic),
    request(`DELETE ${all}/one`, { kind: "DeleteOptions", apiVersion: "apps/v1", propagationPolicy: "Orphan" }),
  ];
}

function customResources(ns: string): AdmissionRequest[] {
  const all = widgets(ns);
  const one = widgets(ns, "one");
  const beta = widgets(ns, "one", "v1beta1");
  const regions = `/apis/${group}/v1/regions`;
  const region = {
    apiVersion: `${group}/v1`,
    kind: "Region",
    metadata: { name: `${ns}-region` },
    spec: { color: "red" },
  };
  return [
    request(`POST ${all}`, widget("one", { size: 2, color: "red", unknown: 1 })),
    request(`POST ${all}`, widget("two", { size: -1 })),
    request(`POST ${all}`, widget("two")),
    request(`PUT ${one}`, widget("one", { size: 3 })),
    request(`PATCH ${one}`, { spec: { tags: ["a"] } }, merge),
    request(`PATCH ${beta}`, { spec: { color: "blue" } }, merge),
    request(
      `PATCH ${one}?fieldManager=applier`,
      { ...widget("one"), spec: { parts: [{ name: "a" }, { name: "b" }] } },
      apply,
    ),
    request(`PATCH ${one}/status`, { status: { size: 1 } }, merge),
    request(`PATCH ${one}/scale`, { spec: { replicas: 7 } }, merge),
    request(`DELETE ${beta}?dryRun=All`),
    request(`DELETE ${all}?fieldSelector=metadata.name%3Done`),
    request(`POST ${regions}`, region),
    request(`PATCH ${regions}/${ns}-region`, { spec: { size: 9 } }, merge),
    request(`DELETE ${regions}/${ns}-region`),
  ];
}

function coreResources(ns: string): AdmissionRequest[] {
  const tokenRequest = { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: { audiences: ["a"] } };
  const endpoints = { metadata: { name: "one" }, subsets: [] };
  return [
    request(`POST ${core(ns, "serviceaccounts")}`, { metadata: { name: "robot" } }),
    request(`POST ${core(ns, "serviceaccounts", "robot")}/token?dryRun=All`, tokenRequest),
    request(`POST ${core(ns, "services")}`, {
      metadata: { name: "one" },
      spec: { clusterIP: "None", ports: [{ port: 80 }] },
    }),
    request(`PATCH ${core(ns, "services", "one")}/status`, { metadata: { labels: { a: "b" } } }, merge),
    request(`DELETE ${core(ns, "services", "one")}`),
    request(`PUT ${core(ns, "endpoints", "one")}`, endpoints),
    request(`PUT ${core(ns, "endpoints", "one")}`, { ...endpoints, metadata: { name: "one", labels: { a: "1" } } }),
    request(`POST ${core(ns, "secrets")}`, { metadata: { name: "one" }, stringData: { a: "b" } }),
    request(`PATCH ${core(ns, "secrets", "one")}`, { stringData: { a: "c" } }, strategic),
    request(`POST ${core(ns, "events")}`, {
      metadata: { name: "one" },
      involvedObject: { namespace: ns },
      reason: "R",
    }),
    request(`POST ${core(ns, "replicationcontrollers")}`, {
      metadata: { name: "one" },
      spec: {
        replicas: 0,
        selector: { a: "b" },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "d" }] } },
      },
    }),
    request(`PATCH ${core(ns, "replicationcontrollers", "one")}/scale`, { spec: { replicas: 1 } }, merge),
  ];
}

function clusterResources(ns: string): AdmissionRequest[] {
  const namespaces = "/api/v1/namespaces";
  const created = `${ns}-created`;
  return [
    request(`POST ${namespaces}`, { metadata: { name: created, labels: { "golden-part-of": ns } } }),
    request(`PATCH ${namespaces}/${created}`, { metadata: { labels: { extra: "1" } } }, merge),
    request(`PATCH ${namespaces}/${created}/status`, { metadata: { annotations: { a: "1" } } }, merge),
    request(`PUT ${namespaces}/${created}/finalize`, {
      metadata: { name: created },
      spec: { finalizers: ["kubernetes"] },
    }),
    request(`POST /api/v1/nodes`, { metadata: { name: `${ns}-node` } }),
    request(`PATCH /api/v1/nodes/${ns}-node/status`, { status: { phase: "Running" } }, merge),
    request(`DELETE /api/v1/nodes/${ns}-node`),
    request(`POST /apis/scheduling.k8s.io/v1/priorityclasses`, { metadata: { name: `${ns}-class` }, value: 7 }),
    request(`DELETE /apis/scheduling.k8s.io/v1/priorityclasses/${ns}-class`),
  ];
}

function otherGroups(ns: string): AdmissionRequest[] {
  const scalers = (version: string): string => `/apis/autoscaling/${version}/namespaces/${ns}/horizontalpodautoscalers`;
  const scaler = {
    maxReplicas: 3,
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "one" },
  };
  const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["get"] }];
  const resourceAttributes = { namespace: ns, verb: "get", resource: "configmaps" };
  return [
    request(`POST ${scalers("v1")}`, {
      metadata: { name: "one" },
      spec: { ...scaler, targetCPUUtilizationPercentage: 50 },
    }),
    request(`PATCH ${scalers("v2")}/one`, { spec: { minReplicas: 2 } }, merge),
    request(`DELETE ${scalers("v1")}/one`),
    request(`POST /apis/coordination.k8s.io/v1/namespaces/${ns}/leases`, { metadata: { name: "one" }, spec: {} }),
    request(`PUT /apis/coordination.k8s.io/v1/namespaces/${ns}/leases/two`, { metadata: { name: "two" }, spec: {} }),
    request(`POST /apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`, { metadata: { name: "one" }, rules }),
    request(`POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews`, { spec: { resourceAttributes } }),
    request(`POST /apis/authorization.k8s.io/v1/namespaces/${ns}/localsubjectaccessreviews`, {
      metadata: { namespace: ns },
      spec: { user: "other", resourceAttributes },
    }),
    request(`POST /apis/authentication.k8s.io/v1/tokenreviews`, { spec: { token: "none" } }),
    request(`POST /apis/authentication.k8s.io/v1/selfsubjectreviews`, {}),
  ];
}
