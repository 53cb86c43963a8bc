/** Discovery, OpenAPI, unknown paths, requests that concern no resource, and odd queries and headers. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { builtinKinds } from "../samples.ts";

export const discovery: Area = {
  name: "discovery",
  make: (random) => Array.from({ length: 10 }, () => operation(random)),
};

const documents = [
  "/api",
  "/api/v1",
  "/apis/apps",
  "/apis/apps/v1",
  "/apis/batch/v1",
  "/apis/autoscaling",
  "/apis/events.k8s.io/v1",
  "/apis/policy/v1",
  "/apis/example.com",
  "/apis/apps/v2",
  "/version",
  "/apis/rbac.authorization.k8s.io",
];
const more = [
  "/healthz/ping",
  "/livez/ping",
  "/readyz/ping",
  "/healthz/missing",
  "/openid/v1/jwks/",
  "/.well-known/openid-configuration/",
  "/",
  "",
  "/api/",
  "/api/v1/",
  "/apis/apps/",
  "/api/v2",
  "/version/",
  "/ui",
  "/debug/pprof/missing",
  "/logs/x",
  "/static/a",
  "//api/v1",
  "/api//v1",
  "/api/v1/../v1",
  "/apis/apps/v1/namespaces",
  "/api/v1/namespaces/$ns/unknown",
  "/api/v1/unknown",
  "/api/v1/pods/a/b/c",
  "/api/v1/namespaces/$ns/pods/a/unknown",
  "/api/v1/proxy/nodes/a",
  "/api/v1/watch",
  "/api/v1/watch/unknown",
  "/apis/apps/v1/watch/namespaces/$ns/deployments/a?timeoutSeconds=1&resourceVersion=a",
  "/openapi/v3/apis/unknown/v1",
  "/openapi/v4",
  "/openapi/v3/version",
  "/api/v1/namespaces/$ns/pods/",
  "/api/v1/namespaces/$ns/pods/%2e%2e",
  "/api/v1/namespaces/$ns/configmaps/a%2Fb",
  "/api/v1/namespaces/$ns/configmaps/a%20b",
  "/api/v1/namespaces/%20/configmaps",
  "/api/v1/namespaces//configmaps",

  "/livez?exclude=etcd",
  "/readyz?exclude=none",
];
const methods = ["GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
const accepts = [
  "application/json",
  "application/yaml",
  "application/vnd.kubernetes.protobuf",
  "application/cbor",
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
  "application/json;g=apidiscovery.k8s.io;v=v1;as=APIGroupDiscoveryList",
  "application/json;as=Table;g=meta.k8s.io;v=v1",
  "text/html",
  "*/*",
];
const queries = [
  "a=b",
  "pretty=true",
  "pretty=0",
  "limit=1;2",
  "%zz",
  "watch=true",
  "timeout=1s",
  "timeout=a",
  "timeout=0s",
  "timeout=-1s",
  "timeout=40s",
  "a=%00",
  "&&",
  "fieldSelector=%FF",
  "dryRun=All",
  "dryRun=a&dryRun=All",
];
const headers: readonly Record<string, string>[] = [
  { "content-type": "application/json" },
  { "content-type": "" },
  { "accept-encoding": "gzip" },
  { "x-remote-user": "a" },
  { authorization: "Bearer " },
  { authorization: "Basic YTpi" },
  { authorization: "Bearer a b" },
  { "if-none-match": '"a"' },
  { "accept-language": "de" },
  { expect: "100-continue" },
];

function operation(random: Random): Step {
  const roll = random.below(10);
  const kind = random.pick(builtinKinds());
  const place =
    roll < 4
      ? random.pick(documents)
      : roll < 8
        ? random.pick(more)
        : random.chance(0.5)
          ? `${kind.collection}?labelSelector=none`
          : `${kind.collection}/missing`;
  const path =
    random.chance(0.25) && place !== "" ? `${place}${place.includes("?") ? "&" : "?"}${random.pick(queries)}` : place;
  const accept: Record<string, string> = random.chance(0.6) ? { accept: random.pick(accepts) } : {};
  const method = random.pick(methods);
  const isDangerous = method === "DELETE" && !path.includes("$ns") && path.startsWith(kind.collection);
  const hasBody = (method === "POST" || method === "PUT" || method === "PATCH") && random.chance(0.7);
  return {
    method: isDangerous ? "GET" : method,
    path: path === "" ? "/api/v1/namespaces/$ns" : path,
    headers: { ...accept, ...(random.chance(0.2) ? random.pick(headers) : {}) },
    ...(hasBody && {
      body: random.pick<unknown>([
        "",
        "{",
        "{}",
        {},
        { kind: "Other", apiVersion: "v1" },
        { kind: kind.kind, apiVersion: kind.apiVersion },
      ]),
    }),
  };
}
