/** Builders for objects: minimal valid ones, with the fields that a test is about. */

/** What all objects that are built here have. */
export interface BuiltObject {
  /** Such as `apps/v1`. */
  apiVersion: string;
  /** Such as `Deployment`. */
  kind: string;
  /** Its name, and what the fields add. */
  metadata: { name: string };
}

/** The spec of a minimal object. */
export interface Defaults<S> {
  /** What the fields do not replace. */
  spec: S;
}

/** The spec of {@link pod}. */
export interface PodDefaults {
  /** One container, `main`. */
  containers: { name: string; image: string }[];
}

/** The spec of {@link service}. */
export interface ServiceDefaults {
  /** The label `app`. */
  selector: Record<string, string>;
  /** The port 80. */
  ports: { port: number }[];
}

/** The spec of {@link deployment}. */
export interface DeploymentDefaults {
  /** 1 */
  replicas: number;
  /** The label `app`. */
  selector: { matchLabels: Record<string, string> };
  /** Of its pods. */
  template: { metadata: { labels: Record<string, string> }; spec: PodDefaults };
}

/** The spec of {@link job}. */
export interface JobDefaults {
  /** Of its pods. */
  template: { spec: PodDefaults & { restartPolicy: string } };
}

/** The spec of {@link customResourceDefinition}. */
export interface DefinitionDefaults {
  /** Such as `example.com`. */
  group: string;
  /** `Namespaced` */
  scope: string;
  /** Such as `widgets`, `widget`, `Widget` and `WidgetList`. */
  names: { plural: string; singular: string; kind: string; listKind: string };
  /** The version `v1`. */
  versions: { name: string; served: boolean; storage: boolean; schema: object; subresources: object }[];
}

/**
 * Builds an object of any kind.
 *
 * @param fields merged into it: members of objects one by one; lists and other values replace the default, and
 *   `undefined` removes it
 *
 * @example
 * ```ts
 * import { object } from "coxswain/testing";
 *
 * const widget = object("example.com/v1", "Widget", "blue", { metadata: { labels: { a: "b" } }, spec: { size: 3 } });
 * console.log(JSON.stringify(widget.metadata)); // {"name":"blue","labels":{"a":"b"}}
 * ```
 */
export function object<F extends object>(apiVersion: string, kind: string, name: string, fields?: F): BuiltObject & F {
  return merged({ apiVersion, kind, metadata: { name } }, fields) as BuiltObject & F;
}

/** Builds a Namespace. */
export function namespace<F extends object>(name: string, fields?: F): BuiltObject & F {
  return object("v1", "Namespace", name, fields);
}

/** Builds a ConfigMap without data. */
export function configMap<F extends object>(name: string, fields?: F): BuiltObject & F {
  return object("v1", "ConfigMap", name, fields);
}

/** Builds a Secret of the type Opaque without data. */
export function secret<F extends object>(name: string, fields?: F): BuiltObject & F {
  return object("v1", "Secret", name, fields);
}

/** Builds a ServiceAccount. */
export function serviceAccount<F extends object>(name: string, fields?: F): BuiltObject & F {
  return object("v1", "ServiceAccount", name, fields);
}

/** Builds a Service with the port 80, for pods with the label `app` and its name. */
export function service<F extends object>(name: string, fields?: F): BuiltObject & Defaults<ServiceDefaults> & F {
  return built("v1", "Service", name, { selector: { app: name }, ports: [{ port: 80 }] }, fields);
}

/** Builds a Pod with one container, `main`. */
export function pod<F extends object>(name: string, fields?: F): BuiltObject & Defaults<PodDefaults> & F {
  return built("v1", "Pod", name, onePodSpec, fields);
}

/** Builds a Deployment of one pod, which has the label `app` with the name. */
export function deployment<F extends object>(name: string, fields?: F): BuiltObject & Defaults<DeploymentDefaults> & F {
  const labels = { app: name };
  const spec = { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: onePodSpec } };
  return built("apps/v1", "Deployment", name, spec, fields);
}

/** Builds a Job of one pod that is not restarted. */
export function job<F extends object>(name: string, fields?: F): BuiltObject & Defaults<JobDefaults> & F {
  const spec = { template: { spec: { ...onePodSpec, restartPolicy: "Never" } } };
  return built("batch/v1", "Job", name, spec, fields);
}

/**
 * Builds a CustomResourceDefinition with the version `v1`, which has the subresource `status` and accepts all fields.
 *
 * @param name plural and group, such as `widgets.example.com`
 * @param kind such as `Widget`
 */
export function customResourceDefinition<F extends object>(
  name: string,
  kind: string,
  fields?: F,
): BuiltObject & Defaults<DefinitionDefaults> & F {
  const [plural = "", ...group] = name.split(".");
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    subresources: { status: {} },
  };
  const names = { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` };
  const spec = { group: group.join("."), scope: "Namespaced", names, versions: [version] };
  return built("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, spec, fields);
}

const onePodSpec: PodDefaults = { containers: [{ name: "main", image: "registry.k8s.io/pause" }] };

function built<S extends object, F extends object>(
  apiVersion: string,
  kind: string,
  name: string,
  spec: S,
  fields: F | undefined,
): BuiltObject & Defaults<S> & F {
  return merged(object(apiVersion, kind, name, { spec }), fields) as BuiltObject & Defaults<S> & F;
}

/** Copies both, so that objects share nothing. */
function merged(base: unknown, fields: unknown): unknown {
  if (fields === undefined) return structuredClone(base);
  if (!isPlain(base) || !isPlain(fields)) return structuredClone(fields);
  const result = new Map(Object.entries(base).map(([name, value]) => [name, structuredClone(value)]));
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) result.delete(name);
    else result.set(name, merged(result.get(name), value));
  }
  return Object.fromEntries(result);
}

function isPlain(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
