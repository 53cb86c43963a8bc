/**
 * Statements of the compatibility pages that no other test shows: missing and different behavior,
 * one table for each subject.
 */
import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { podControllers } from "../support/start-test-server.ts";

const core = "/api/v1/namespaces/default";
const configMaps = `${core}/configmaps`;
const revisions = "/apis/apps/v1/namespaces/default/controllerrevisions";
const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles";
const services = `${core}/services`;
const tableForm = "application/json;as=Table;v=v1;g=meta.k8s.io";
const named = (name: string, rest: object = {}): object => ({ metadata: { name }, ...rest });
const get = (path: string, accept = "application/json"): RawRequest => ({ path, headers: { accept } });
const post = (path: string, body: object | string): RawRequest => ({ method: "POST", path, body });
const patch = (path: string, type: string, body: object | string = "{}"): RawRequest => ({
  method: "PATCH",
  path,
  headers: { "content-type": type },
  body,
});
const container = { name: "c", image: "i" };
const pod = (name: string, spec: object = {}): object => named(name, { spec: { containers: [container], ...spec } });
const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const revision = (name: string, data: string): string => `{"metadata":{"name":"${name}"},"revision":1,"data":${data}}`;
const quota = (name: string, hard: object): object => named(name, { spec: { hard } });
const apiService = {
  group: "example.com",
  version: "v1",
  groupPriorityMinimum: 100,
  versionPriority: 100,
  service: { name: "x", namespace: "y" },
};

/** Requests are sent in this order. */
type Row = readonly [what: string, request: RawRequest, status: number, text: RegExp];

const sections: Readonly<Record<string, readonly Row[]>> = {
  Serving: [
    ...["/debug/pprof", "/debug/pprof/", "/logs", "/logs/"].map(
      (path): Row => [`${path} is missing`, get(path), 404, /^404 page/],
    ),
    ...[
      "application/json",
      "application/yaml",
      "application/vnd.kubernetes.protobuf",
      "application/cbor",
      "application/apply-patch+cbor",
    ].map(
      (type): Row => [
        `a patch cannot be ${type}`,
        patch(`${configMaps}/c?fieldManager=m`, type),
        415,
        /415: Unsupported Media Type/,
      ],
    ),
    [
      "an apply may be YAML",
      patch(`${configMaps}/c?fieldManager=m`, "application/apply-patch+yaml", "apiVersion: v1\nkind: ConfigMap"),
      200,
      /"name":"c"/,
    ],
    ["a watch cannot be YAML", get(`${configMaps}?watch=1`, "application/yaml"), 406, /application\/json;stream=watch/],
    [
      "a value of any type nests 1000 levels",
      post(`${revisions}?dryRun=All`, revision("n", `{"a":${nested(998)}}`)),
      201,
      /\[\[\]\]/,
    ],
    [
      "a value of any type does not nest deeper",
      post(`${revisions}?dryRun=All`, revision("n", `{"a":${nested(999)}}`)),
      400,
      /exceeded max depth of 1000/,
    ],
    [
      "an unknown field nests 9999 levels",
      post(`${configMaps}?dryRun=All`, `{"metadata":{"name":"n"},"x":${nested(9999)}}`),
      201,
      /"name":"n"/,
    ],
    [
      "an unknown field does not nest deeper",
      post(`${configMaps}?dryRun=All`, `{"metadata":{"name":"n"},"x":${nested(10_000)}}`),
      400,
      /exceeded max depth/,
    ],
    [
      "values of any type lose the spelling of their floats",
      post(revisions, revision("f", '{"a":1.0,"b":1e3,"c":123456789012345678901234567890.5}')),
      201,
      /"data":\{"a":1,"b":1000,"c":1\.2345678901234568e\+29\}/,
    ],
    [
      "a number that no double holds is rejected",
      post(revisions, revision("g", '{"a":1e999}')),
      400,
      /cannot unmarshal number 1e999/,
    ],
  ],
  "Rejected patches": [
    [
      "the type of a patch is checked before Accept",
      {
        method: "PATCH",
        path: `${configMaps}/c`,
        headers: { "content-type": "text/x", accept: "text/html" },
        body: "{}",
      },
      415,
      /415: Unsupported Media Type/,
    ],
    [
      "Accept is checked if the type is supported",
      {
        method: "PATCH",
        path: `${configMaps}/c`,
        headers: { "content-type": "application/merge-patch+json", accept: "text/html" },
        body: "{}",
      },
      406,
      /406: Not Acceptable/,
    ],
  ],
  "Resources and verbs": [
    ["APIServices exist for built-in groups", get("/apis/apiregistration.k8s.io/v1/apiservices/v1.apps"), 200, /17800/],
    [
      "an APIService is stored",
      post("/apis/apiregistration.k8s.io/v1/apiservices", named("v1.example.com", { spec: apiService })),
      201,
      /"v1.example.com"/,
    ],
    ["an APIService without a Service is unavailable", get("/apis/example.com/v1"), 503, /^service unavailable/],
    [
      "privileged containers are allowed",
      post(
        `${core}/pods?dryRun=All`,
        pod("p", { containers: [{ ...container, securityContext: { privileged: true } }] }),
      ),
      201,
      /"privileged":true/,
    ],
    [
      "a quantity may have 1024 characters",
      post(`${core}/resourcequotas?dryRun=All`, quota("q", { cpu: "0".repeat(1024) })),
      201,
      /"cpu":"0"/,
    ],
    [
      "a quantity may not have more characters",
      post(`${core}/resourcequotas?dryRun=All`, quota("q", { cpu: "0".repeat(1025) })),
      400,
      /quantities must match/,
    ],
  ],
  "Services' addresses": [
    [
      "a service gets an address",
      post(services, named("s", { spec: { ports: [{ port: 80 }] } })),
      201,
      /"clusterIP":"10\./,
    ],
    [
      "the ServiceCIDR is ready",
      get("/apis/networking.k8s.io/v1/servicecidrs/kubernetes"),
      200,
      /"type":"Ready","status":"True"/,
    ],
  ],
  "Writes, patches, deletion": [
    [
      "an apply to the status of a Service that does not exist is rejected",
      patch(`${services}/none/status?fieldManager=m`, "application/apply-patch+yaml", {
        apiVersion: "v1",
        kind: "Service",
        ...named("none"),
      }),
      404,
      /services \\"none\\" not found/,
    ],
    [
      "a PUT to the status of a Service that does not exist is rejected",
      { method: "PUT", path: `${services}/none/status`, body: named("none") },
      404,
      /services \\"none\\" not found/,
    ],
  ],
  "List and watch": [
    [
      "an empty segment for the namespace is not found",
      get("/api/v1/namespaces//configmaps"),
      404,
      /could not find the requested resource/,
    ],
    [
      "a method that no standard defines is a bad request over HTTP/1.1",
      { method: "FOO", path: configMaps },
      400,
      /^400 Bad Request$/,
    ],
    [
      "a method that another standard defines is not allowed",
      { method: "PROPFIND", path: configMaps },
      405,
      /does not allow this method/,
    ],
    ["the document of a group has no server addresses", get("/apis/apps"), 200, /^(?!.*serverAddress)/s],
    [
      "a chunk of a selection has a continue token if another object follows",
      get(`${configMaps}?limit=2&labelSelector=t`),
      200,
      /"continue":"/,
    ],
    [
      "the last chunk of a selection has no continue token",
      get(`${configMaps}?limit=3&labelSelector=t`),
      200,
      /"metadata":\{"resourceVersion":"\d+"\}/,
    ],
  ],
  "Kinds that upstream does not cache": [
    ...["a", "b", "c"].map(
      (name, index): Row => [
        `creates an Event ${name}`,
        post(`${core}/events`, {
          metadata: { name },
          involvedObject: { namespace: "default" },
          reason: index === 2 ? "Z" : "Y",
        }),
        201,
        /"Event"/,
      ],
    ),
    [
      "a limit applies at any resourceVersion",
      get(`${core}/events?limit=1&resourceVersion=0`),
      200,
      /"continue":"[^"]+","remainingItemCount":2/,
    ],
    [
      "a chunk has a continue token if another object follows",
      get(`${core}/events?limit=2&fieldSelector=reason=Y`),
      200,
      /"continue":"/,
    ],
    [
      "the last chunk has no continue token",
      get(`${core}/events?limit=1&fieldSelector=reason=Z`),
      200,
      /"metadata":\{"resourceVersion":"\d+"\}/,
    ],
    [
      "a list at a future resourceVersion fails without waiting",
      get(`${core}/events?resourceVersion=99999999999`),
      504,
      /"details":\{"causes":\[\{[^\]]*\}\]\},"code":504/,
    ],
    [
      "a get at a future resourceVersion fails without waiting",
      get(`${core}/events/a?resourceVersion=99999999999`),
      504,
      /"details":\{"causes":\[\{[^\]]*\}\]\},"code":504/,
    ],
    [
      "a resourceVersion that is not a number is 400",
      get(`${core}/events/a?resourceVersion=x`),
      400,
      /"invalid resource version: resourceVersion: Invalid value/,
    ],
    [
      "a resourceVersion that is not a number is 500 for other kinds",
      get(`${configMaps}/a?resourceVersion=x`),
      500,
      /"resourceVersion: Invalid value/,
    ],
  ],
  "Errors of options": [
    [
      "timeoutSeconds is parsed before limit",
      get(`${configMaps}?limit=x&timeoutSeconds=`),
      400,
      /strconv\.ParseInt: parsing \\"\\": invalid syntax/,
    ],
    [
      "ReplicaSets cannot be selected by status.replicas",
      get("/apis/apps/v1/namespaces/default/replicasets?fieldSelector=status.replicas%3D0"),
      400,
      /\\"status\.replicas\\" is not a known field selector: only \\"metadata\.name\\", \\"metadata\.namespace\\"/,
    ],
  ],
  "Errors about the metadata of roles": [
    ["creates a role", post(roles, named("r")), 201, /"Role"/],
    [
      "an update reports errors of metadata once more than for other kinds",
      { method: "PUT", path: `${roles}/r`, body: { metadata: { name: "r", finalizers: ["x"] } } },
      422,
      /(?:"field":"metadata\.finalizers\[0\]".*){2}/,
    ],
  ],
  Negotiation: [
    [
      "a watch of PartialObjectMetadataList is rejected",
      get(`${configMaps}?watch=1`, "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"),
      406,
      /requested object is not a list/,
    ],
    [
      "a Table with another includeObject is rejected",
      {
        method: "POST",
        path: `${configMaps}?includeObject=Some`,
        headers: { accept: tableForm },
        body: named("unwritten"),
      },
      400,
      /includeObject/,
    ],
    ["a rejected Table writes no object", get(`${configMaps}/unwritten`), 404, /not found/],
  ],
  "Controllers and the state from the first start on": [
    [
      "an identity lease exists, and no lease of an election",
      get("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases"),
      200,
      /"items":\[\{"metadata":\{"name":"apiserver-[a-z2-7]{26}",(?!.*kube-controller-manager)/,
    ],
    ...["default", "kube-system", "kube-public"].map(
      (name): Row => [
        `${name} cannot be deleted`,
        { method: "DELETE", path: `/api/v1/namespaces/${name}` },
        403,
        /this namespace may not be deleted/,
      ],
    ),
    [
      "kube-node-lease can be deleted",
      { method: "DELETE", path: "/api/v1/namespaces/kube-node-lease?dryRun=All" },
      200,
      /"deletionTimestamp"/,
    ],
    [
      "the system priority classes exist",
      get("/apis/scheduling.k8s.io/v1/priorityclasses"),
      200,
      /system-cluster-critical.*system-node-critical/,
    ],
  ],
};

const { client } = await startServerWithClient({ controllers: podControllers });

describe("the compatibility pages", () => {
  before(async () => {
    for (const name of ["a", "b"]) await client.send(post(configMaps, { metadata: { name, labels: { t: "x" } } }));
    for (const name of ["c", "d"]) await client.send(post(configMaps, named(name)));
  });

  for (const [section, rows] of Object.entries(sections)) {
    for (const [what, request, status, text] of rows) {
      test(`${section}: ${what}`, async () => {
        const answer = await client.send(request);
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.text, text);
      });
    }
  }
});
