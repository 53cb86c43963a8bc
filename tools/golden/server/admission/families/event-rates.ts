/** EventRateLimit. A server with a stopped clock answers the same: all requests of a scenario are sent within a second. */
import type { AdmissionRequest, Scenario, Sent } from "../../../../../test/support/admission-golden.ts";
import { otherPlugins } from "../../../../../test/support/admission-replay.ts";
import { core, type Family, namespace, request } from "./builders.ts";

const merge = "application/merge-patch+json";

interface EventFields {
  readonly object?: Sent;
  readonly source?: Sent;
  readonly user?: string;
  readonly query?: string;
}

const createEvent = (
  inNamespace: string,
  name: string,
  { object = {}, source, user, query = "" }: EventFields = {},
): AdmissionRequest => ({
  ...request(`POST ${core(inNamespace, "events")}${query}`, {
    metadata: { name },
    involvedObject: { kind: "Pod", namespace: inNamespace, name: "p", ...object },
    ...(source && { source }),
  }),
  user: [user ?? `golden-${name}-${inNamespace}`, "system:masters"],
});

const scenario = (name: string, requests: (name: string) => readonly AdmissionRequest[]): Scenario => ({
  name,
  setup: [namespace(name), namespace(`${name}-other`)],
  answers: {},
  requests: requests(name),
});

/** Fewer events per object than the limit of another type. */
const distinct = (index: number): EventFields => ({ object: { uid: `${index}` } });
const times = (count: number, create: (index: number) => AdmissionRequest): AdmissionRequest[] =>
  Array.from({ length: count }, (_, index) => create(index));

export const eventRates: Family = {
  plugins: {
    enable: ["EventRateLimit"],
    disable: otherPlugins,
    isClockStopped: true,
    configurations: {
      EventRateLimit: {
        apiVersion: "eventratelimit.admission.k8s.io/v1alpha1",
        kind: "Configuration",
        limits: [
          { type: "Server", qps: 1000, burst: 1000 },
          { type: "Namespace", qps: 1, burst: 6, cacheSize: 100 },
          { type: "User", qps: 1, burst: 4, cacheSize: 100 },
          { type: "SourceAndObject", qps: 1, burst: 2 },
        ],
      },
    },
  },
  setup: [],
  scenarios: [
    scenario("namespace", (name) => [
      ...times(8, (index) => createEvent(name, `e-${index}`, distinct(index))),
      createEvent(`${name}-other`, "e", distinct(0)),
    ]),
    scenario("user", (name) => [
      ...times(5, (index) => createEvent(name, `e-${index}`, { ...distinct(index), user: "golden-one" })),
      createEvent(name, "e", { ...distinct(9), user: "golden-two" }),
      createEvent(`${name}-other`, "e", { ...distinct(9), user: "golden-one" }),
    ]),
    scenario("object", (name) => [
      ...times(3, (index) => createEvent(name, `e-${index}`)),
      createEvent(name, "by-source", { source: { component: "c", host: "h" } }),
      createEvent(name, "joined", { source: { component: "ch" } }),
      createEvent(name, "joined-again", { source: { host: "ch" } }),
    ]),
    scenario("several", (name) => times(8, (index) => createEvent(name, `e-${index}`, { user: "golden-several" }))),
    scenario("updates", (name) => [
      createEvent(name, "e"),
      ...times(3, (index) => ({
        ...request(`PATCH ${core(name, "events", "e")}`, { count: index + 1 }, merge),
        user: ["golden-updates", "system:masters"] as const,
      })),
    ]),
    scenario("not-limited", (name) => [
      ...times(3, (index) => createEvent(name, `e-${index}`, { query: "?dryRun=All" })),
      ...times(3, (index) =>
        request(`POST /apis/events.k8s.io/v1/namespaces/${name}/events`, {
          metadata: { name: `new-${index}` },
          eventTime: "2026-01-01T00:00:00.000000Z",
          action: "a",
          reason: "r",
          type: "Normal",
          reportingController: "example.com/c",
          reportingInstance: "i",
          regarding: { kind: "Pod", namespace: name, name: "p" },
        }),
      ),
      ...times(3, (index) => request(`POST ${core(name, "secrets")}`, { metadata: { name: `s-${index}` } })),
    ]),
    scenario("invalid", (name) => [
      ...times(3, (index) => createEvent(name, `e-${index}`, { object: { namespace: "another" } })),
      request(`DELETE ${core(name, "events", "e-0")}`),
    ]),
  ],
};
