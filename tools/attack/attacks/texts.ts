/** Paths, queries and headers that are long, before and after authentication. */
import type { RequestRow } from "../request-attack.ts";

const anonymous = true;

/** Requests that need no object and no right. */
export const texts: readonly RequestRow[] = [
  {
    group: "c",
    name: "a path of slashes",
    size: 100_000,
    request: (size) => ({ path: `${"/".repeat(size)}a/`, anonymous }),
  },
  {
    group: "c",
    name: "a path of slashes below /apis/",
    size: 100_000,
    request: (size) => ({ path: `/apis/${"/".repeat(size)}x` }),
  },
  {
    group: "c",
    name: "a path of short segments",
    size: 50_000,
    request: (size) => ({ path: `/api/v1/${"a/".repeat(size)}`, anonymous }),
  },
  {
    group: "c",
    name: "a path of encoded slashes",
    size: 30_000,
    request: (size) => ({ path: `/api/v1/namespaces/${"%2f".repeat(size)}/pods` }),
  },
  {
    group: "d",
    name: "X-Real-Ip of zeros",
    size: 260,
    request: (size) => ({ path: "/version", headers: { "x-real-ip": `${"0".repeat(size)}:x` }, anonymous }),
  },
  {
    group: "d",
    name: "X-Real-Ip of colons and zeros",
    size: 50_000,
    request: (size) => ({ path: "/version", headers: { "x-real-ip": "0:".repeat(size) }, anonymous }),
  },
  {
    group: "d",
    name: "X-Forwarded-For with many addresses",
    size: 30_000,
    request: (size) => ({
      path: "/version",
      headers: {
        "x-forwarded-for": Array(Math.ceil(size / 300))
          .fill("0".repeat(300))
          .join(", "),
      },
      anonymous,
    }),
  },
  {
    group: "e",
    name: "a query of empty parameters",
    size: 300_000,
    request: (size) => ({ path: `/api/v1/pods?${"a&".repeat(size)}`, anonymous }),
  },
  {
    group: "e",
    name: "a query that repeats one parameter",
    size: 100_000,
    request: (size) => ({ path: `/api/v1/namespaces?${"limit=1&".repeat(size)}` }),
  },
  {
    group: "e",
    name: "a query of encoded characters",
    size: 100_000,
    request: (size) => ({ path: `/api/v1/namespaces?labelSelector=${"%20".repeat(size)}` }),
  },
  {
    group: "h",
    name: "Accept with thousands of clauses",
    size: 20_000,
    request: (size) => ({ path: "/api/v1/namespaces", headers: { accept: `${"a/b;q=0.1,".repeat(size)}*/*` } }),
  },
  {
    group: "h",
    name: "Accept with thousands of parameters",
    size: 50_000,
    request: (size) => ({ path: "/apis", headers: { accept: `application/json;${"a=b;".repeat(size)}` } }),
  },
  {
    group: "h",
    name: "aggregated discovery among many clauses",
    size: 5_000,
    request: (size) => ({
      path: "/apis",
      headers: { accept: `${"application/json;g=apidiscovery.k8s.io;v=v3;as=APIGroupDiscoveryList,".repeat(size)}*/*` },
    }),
  },
  {
    group: "h",
    name: "an impersonated user in thousands of groups",
    size: 900,
    request: (size) => ({
      path: "/api/v1/namespaces",
      headers: {
        "impersonate-user": "mallory",
        ...Object.fromEntries(Array.from({ length: size }, (_, index) => [`impersonate-extra-k${index}`, "v"])),
      },
    }),
  },
  {
    group: "n",
    name: "a path that is not UTF-8",
    size: 30_000,
    statuses: [401, 403, 404],
    request: (size) => ({ path: `/${"%ff".repeat(size)}`, anonymous }),
  },
];
