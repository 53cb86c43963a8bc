/**
 * The rows are those of `TestSync` in
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/status/remote/remote_available_controller_test.go,
 * and some more.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { internalError } from "../../apimachinery/errors.ts";
import type { Backends, RemoteApiService } from "../../forwarding/aggregator/contract.ts";
import { WebhookError } from "../../webhook/contract.ts";
import type { EndpointSliceView, ServiceSource, ServiceView } from "../../webhook/service-resolver.ts";
import { checkAvailability } from "./check-availability.ts";

const port = 1234;
const portName = "testPort";
const remote: RemoteApiService = {
  name: "remote.group",
  group: "group",
  version: "remote",
  uid: "",
  resourceVersion: "1",
  service: { namespace: "foo", name: "bar", port },
  caBundle: "",
  insecureSkipTlsVerify: false,
  groupPriorityMinimum: 1,
  versionPriority: 1,
  isAvailable: false,
};
const url = "https://10.0.0.1:1234/apis/group/remote";

interface Row {
  readonly service?: ServiceView["spec"] | "unreadable" | "missing";
  readonly slices?: readonly Partial<EndpointSliceView>[] | "unreadable";
  /** The status codes of the attempts, or their failures; the last one is repeated. */
  readonly answers?: readonly (number | WebhookError)[];
  readonly resolve?: WebhookError;
  readonly group?: string;
}

const ports = [{ port, name: portName }];
const clusterIp: ServiceView["spec"] = { type: "ClusterIP", ports };
const ready = { endpoints: [{ addresses: ["val"] }], ports };
const timeout = new WebhookError("timeout", `Get "${url}": context deadline exceeded`);
const unreadable = internalError("it cannot be read");

const rows: [title: string, row: Row, expected: string][] = [
  ["no service", { service: "missing" }, `False ServiceNotFound service/bar in "foo" is not present`],
  [
    "service on bad port",
    { service: { type: "ClusterIP", ports: [{ port: 6443 }] } },
    `False ServicePortError service/bar in "foo" is not listening on port 1234`,
  ],
  ["no endpoints", { slices: [] }, `False EndpointsNotFound cannot find endpointslices for service/bar in "foo"`],
  ["missing endpoints", { slices: [{}] }, missing()],
  ["no endpoint at all", { slices: [{ endpoints: null, ports }] }, missing()],
  ["wrong endpoint port name", { slices: [{ ...ready, ports: [{ port, name: "wrongName" }] }] }, missing()],
  ["an endpoint port without a number", { slices: [{ ...ready, ports: [{ name: portName }] }] }, missing()],
  [
    "endpoints not ready",
    { slices: [{ ...ready, endpoints: [{ addresses: ["val"], conditions: { ready: false } }] }] },
    missing(),
  ],
  ["remote", {}, "True Passed all checks passed"],
  ["one success", { answers: [500, timeout, 200, 403] }, "True Passed all checks passed"],
  ["remote-bad-return", { answers: [403] }, failed(`bad status from ${url}: 403`)],
  ["remote-redirect", { answers: [302] }, failed(`bad status from ${url}: 302`)],
  ["remote-304", { answers: [304] }, failed(`bad status from ${url}: 304`)],
  [
    "no answer in time",
    { answers: [timeout] },
    failed(`Get "${url}": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`),
  ],
  [
    "no address",
    { resolve: new WebhookError("resolve", 'cannot route to service with ClusterIP "None"') },
    'False FailedDiscoveryCheck cannot route to service with ClusterIP "None"',
  ],
  ["an external name", { service: { type: "ExternalName" }, slices: [] }, "True Passed all checks passed"],
  [
    "a service that cannot be read",
    { service: "unreadable" },
    `Unknown ServiceAccessError service/bar in "foo" cannot be checked due to: ${unreadable.message}`,
  ],
  [
    "endpoints that cannot be read",
    { slices: "unreadable" },
    `Unknown EndpointsAccessError service/bar in "foo" cannot be checked due to: ${unreadable.message}`,
  ],
  [
    "the core group",
    { group: "", answers: [500] },
    `False FailedDiscoveryCheck failing or missing response from https://10.0.0.1:1234/api/remote: bad status from https://10.0.0.1:1234/api/remote: 500`,
  ],
];

function missing(): string {
  return `False MissingEndpoints endpointslices for service/bar in "foo" have no addresses with port name "testPort"`;
}

function failed(why: string): string {
  return `False FailedDiscoveryCheck failing or missing response from ${url}: ${why}`;
}

for (const [title, row, expected] of rows)
  test(`${title}: ${expected}`, async () => {
    const { service = clusterIp, slices = [ready], group = "group" } = row;
    const source: ServiceSource = {
      async service() {
        if (service === "unreadable") throw unreadable;
        return service === "missing" ? undefined : { spec: service };
      },
      async endpointSlices() {
        if (slices === "unreadable") throw unreadable;
        return slices.map((slice) => ({ addressType: "IPv4", ...slice }));
      },
    };
    const { status, reason, message } = await checkAvailability(
      { ...remote, group },
      { source, backends: answering(row) },
    );
    assert.equal(`${status} ${reason} ${message}`, expected);
  });

function answering({ answers = [200], resolve }: Row): Backends {
  let attempt = 0;
  return {
    checkTransport() {},
    async resolve() {
      if (resolve !== undefined) throw resolve;
      return { host: "10.0.0.1", port };
    },
    async status() {
      const answer = answers[Math.min(attempt++, answers.length - 1)] as number | WebhookError;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    async get() {
      throw new Error("probes read only the status");
    },
  };
}

test("reports malformed authorities to the caller", async () => {
  const backends: Backends = {
    ...answering({}),
    checkTransport() {
      throw new Error("unable to load root certificates: unable to parse bytes as PEM block");
    },
  };
  const source: ServiceSource = {
    service: async () => ({ spec: clusterIp }),
    endpointSlices: async () => [{ addressType: "IPv4", ...ready }],
  };
  await assert.rejects(checkAvailability(remote, { source, backends }), /unable to parse bytes as PEM block/);
});
