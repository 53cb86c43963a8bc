import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import { until } from "../../test/support/until.ts";
import { type Authorities, parseAuthorities } from "../lib/x509/authorities.ts";
import { createAuthority } from "../server/serving/x509.ts";
import { type ClusterTrust, clusterTrustController } from "./cluster-trust.ts";

const place: Place = ["/configmaps", "kube-system"];
const name = "extension-apiserver-authentication";
const silent = { info() {}, warn() {}, error() {} };
const startMs = Date.UTC(2026, 0, 1);
const hourMs = 3600_000;

async function authority(commonName: string, notAfter = startMs + 100 * hourMs): Promise<string> {
  return (await createAuthority({ subject: { commonName }, notBefore: startMs - hourMs, notAfter })).cert;
}
const [clients, proxies, others, brief] = await Promise.all([
  authority("c"),
  authority("p"),
  authority("o"),
  authority("b", startMs + hourMs),
]);
const headers = {
  clientCaFile: "x",
  allowedNames: ["a<b"],
  usernameHeaders: ["X-Remote-User"],
  uidHeaders: ["X-Remote-Uid"],
  groupHeaders: ["X-Remote-Group"],
  extraHeaderPrefixes: ["X-Remote-Extra-"],
};
const of = (pem: string) => (): Authorities => parseAuthorities(pem);
const whole = {
  "client-ca-file": clients,
  "requestheader-allowed-names": '["a\\u003cb"]',
  "requestheader-client-ca-file": proxies,
  "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
  "requestheader-group-headers": '["X-Remote-Group"]',
  "requestheader-uid-headers": '["X-Remote-Uid"]',
  "requestheader-username-headers": '["X-Remote-User"]',
};

/** `before` is the existing data; `want` is undefined when it must not change. */
const rows: [
  what: string,
  trust: ClusterTrust,
  before: Record<string, string> | undefined,
  want: object | undefined,
][] = [
  [
    "publishes client authorities only, without a proxy",
    { clientAuthorities: of(clients), proxyAuthorities: undefined, requestHeader: headers },
    undefined,
    { "client-ca-file": clients },
  ],
  [
    "publishes proxy authorities and headers",
    { clientAuthorities: of(clients), proxyAuthorities: of(proxies), requestHeader: headers },
    undefined,
    whole,
  ],
  [
    "omits the uid headers when there are none",
    { clientAuthorities: of(clients), proxyAuthorities: of(proxies), requestHeader: { ...headers, uidHeaders: [] } },
    undefined,
    Object.fromEntries(Object.entries(whole).filter(([key]) => key !== "requestheader-uid-headers")),
  ],
  [
    "changes nothing when the data is current",
    { clientAuthorities: of(clients), proxyAuthorities: of(proxies), requestHeader: headers },
    whole,
    whole,
  ],
  [
    "merges existing authorities without duplicates, and removes foreign keys",
    { clientAuthorities: of(`${clients}${brief}`), proxyAuthorities: of(proxies), requestHeader: headers },
    {
      "client-ca-file": `${others}${clients}`,
      "requestheader-client-ca-file": others,
      "requestheader-username-headers": '["X-Other-User","X-Remote-User"]',
      x: "y",
    },
    {
      ...whole,
      "client-ca-file": `${others}${clients}${brief}`,
      "requestheader-client-ca-file": `${others}${proxies}`,
      "requestheader-username-headers": '["X-Other-User","X-Remote-User"]',
    },
  ],
  [
    "does not overwrite data that cannot be parsed",
    { clientAuthorities: of(clients), proxyAuthorities: undefined, requestHeader: headers },
    { "client-ca-file": "x" },
    undefined,
  ],
];
for (const [what, trust, before, want] of rows) {
  test(`the authentication ConfigMap: ${what}`, async () => {
    const clock = manualClock(startMs);
    const memory = await openMemoryRegistry({ clock });
    await memory.create(["/namespaces", ""], {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: "kube-system" },
    });
    const make = (data: Record<string, string>) =>
      memory.create(place, { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data });
    if (before !== undefined) await make(before);
    let failures = 0;
    const logger = { ...silent, warn: () => void failures++ };
    const controller = clusterTrustController({ registry: memory.registry, logger, trust });
    const becomes = async (expected: object): Promise<void> => {
      await until(async () => assert.deepEqual((await memory.find(place, name))?.data, expected));
    };
    controller.start();
    if (want === undefined) {
      await until(() => failures > 0);
      assert.deepEqual((await memory.find(place, name))?.data, before);
    } else {
      const sorted = Object.fromEntries(Object.entries(want).sort(([one], [other]) => (one < other ? -1 : 1)));
      await becomes(sorted);
    }
    await controller.stop();
    await memory.close();
  });
}

test("the authentication ConfigMap is updated when it is deleted or changed, and when authorities change or expire", async () => {
  const clock = manualClock(startMs);
  const memory = await openMemoryRegistry({ clock });
  await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name: "kube-system" } });
  let current = clients;
  const trust: ClusterTrust = {
    clientAuthorities: () => parseAuthorities(current),
    proxyAuthorities: undefined,
    requestHeader: headers,
  };
  const controller = clusterTrustController({ registry: memory.registry, logger: silent, trust });
  const becomes = async (pem: string): Promise<void> => {
    await until(async () => (await memory.find(place, name))?.data["client-ca-file"] === pem);
  };
  controller.start();
  await becomes(clients);
  await memory.delete(place, name);
  await becomes(clients);
  await memory.change(place, name, (object) => {
    object.data = { "client-ca-file": brief };
  });
  await becomes(`${brief}${clients}`);
  current = others;
  controller.update();
  await becomes(`${brief}${clients}${others}`);
  clock.advance(hourMs + 4 * 60_000);
  await becomes(`${brief}${clients}${others}`);
  clock.advance(2 * 60_000);
  await becomes(`${clients}${others}`);
  await controller.stop();
  await memory.close();
});
