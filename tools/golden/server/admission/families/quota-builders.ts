/** Shorthand for quotas and the objects that they count. No controller sets the status of the quotas, so the requests do. */
import type { AdmissionRequest, Sent } from "../../../../../test/support/admission-golden.ts";

export type Amounts = Readonly<Record<string, string>>;

const core = (ns: string): string => `/api/v1/namespaces/${ns}`;
const merge = "application/merge-patch+json";
const strategic = "application/strategic-merge-patch+json";

export const post = (path: string, body: Sent): AdmissionRequest => ({ line: `POST ${path}`, body });
export const create = (ns: string, resource: string, body: Sent, query = ""): AdmissionRequest =>
  post(`${core(ns)}/${resource}${query}`, body);
export const get = (path: string): AdmissionRequest => ({ line: `GET ${path}` });
export const patch = (ns: string, path: string, body: Sent): AdmissionRequest => ({
  line: `PATCH ${core(ns)}/${path}`,
  body,
  type: merge,
});
export const patchByName = (ns: string, path: string, body: Sent): AdmissionRequest => ({
  line: `PATCH ${core(ns)}/${path}`,
  body,
  type: strategic,
});
export const remove = (ns: string, path: string): AdmissionRequest => ({ line: `DELETE ${core(ns)}/${path}` });

/** Reads the usage of a quota. */
export const usage = (ns: string, name = "q"): AdmissionRequest => get(`${core(ns)}/resourcequotas/${name}`);

/** Creates a quota. */
export const quota = (ns: string, hard: Amounts, rest: Sent = {}, name = "q"): AdmissionRequest =>
  create(ns, "resourcequotas", { metadata: { name }, spec: { hard, ...rest } });

/** Sets the status of a quota, as the controller does. */
export const status = (ns: string, hard: Amounts, used: Amounts | undefined, name = "q"): AdmissionRequest => ({
  line: `PUT ${core(ns)}/resourcequotas/${name}/status`,
  body: { metadata: { name }, status: { hard, ...(used !== undefined && { used }) } },
});

export const zero = (hard: Amounts): Amounts => Object.fromEntries(Object.keys(hard).map((name) => [name, "0"]));

/** Creates a quota of which nothing is used. */
export const ready = (ns: string, hard: Amounts, rest: Sent = {}, name = "q"): AdmissionRequest[] => [
  quota(ns, hard, rest, name),
  status(ns, hard, zero(hard), name),
];

export const container = (name: string, requests?: Amounts, limits?: Amounts, rest: Sent = {}): Sent => ({
  name,
  image: "image",
  resources: { ...(requests && { requests }), ...(limits && { limits }) },
  ...rest,
});

/** @param spec its containers are a list, or one without resources */
export const pod = (name: string, spec: Sent): Sent => ({
  metadata: { name },
  spec: { containers: [container("a")], ...spec },
});

export const service = (name: string, spec: Sent): Sent => ({
  metadata: { name },
  spec: { ports: [{ port: 80 }], ...spec },
});

export const claim = (name: string, storage: string, spec: Sent = {}, annotations: Amounts = {}): Sent => ({
  metadata: { name, annotations },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } }, ...spec },
});
