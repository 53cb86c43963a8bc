/**
 * Objects whose lists once took seconds to minutes, because each item was compared with all others.
 * COXSWAIN_TEST_FULL=1 compares the time of the processor for four times the items; otherwise they are written once,
 * which takes minutes where the time is not linear.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { leastOf } from "../support/measure-growth.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const growthMax = 6;
/** Other processes disturb single measurements. */
const attempts = 3;

interface Row {
  readonly name: string;
  /** Four times as many are about as much as a request can contain. */
  readonly items: number;
  /** 201 if unset. */
  readonly statuses?: readonly number[];
  readonly path: string;
  object(numbers: readonly number[]): object;
}

const admission = "/apis/admissionregistration.k8s.io/v1";
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const clientConfig = { url: "https://127.0.0.1:1" };

const version = (name: string, storage: boolean, openAPIV3Schema: object = { type: "object" }): object => ({
  name,
  served: true,
  storage,
  schema: { openAPIV3Schema },
});

const definition = (spec: object): object => ({
  metadata: { name: "things.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { plural: "things", kind: "Thing" },
    versions: [version("v1", true)],
    ...spec,
  },
});

/** An associative list whose items have all of the keys. */
const listBy = (keys: readonly string[]): object => ({
  type: "array",
  "x-kubernetes-list-type": "map",
  "x-kubernetes-list-map-keys": keys,
  items: {
    type: "object",
    required: keys.toReversed(),
    properties: Object.fromEntries(keys.map((key) => [key, { type: "string" }])),
  },
});

const rows: readonly Row[] = [
  {
    name: "review versions of a webhook",
    items: 40_000,
    path: `${admission}/validatingwebhookconfigurations`,
    object: (numbers) => ({
      metadata: { name: "w" },
      webhooks: [
        {
          name: "a.example.com",
          clientConfig,
          sideEffects: "None",
          admissionReviewVersions: ["v1", ...numbers.map((number) => `v${number + 2}`)],
        },
      ],
    }),
  },
  {
    name: "review versions of a converter",
    items: 40_000,
    path: definitions,
    object: (numbers) =>
      definition({
        conversion: {
          strategy: "Webhook",
          webhook: { clientConfig, conversionReviewVersions: ["v1", ...numbers.map((number) => `v${number + 2}`)] },
        },
      }),
  },
  {
    name: "versions of a custom resource",
    items: 4000,
    path: definitions,
    object: (numbers) => definition({ versions: numbers.map((number) => version(`v${number + 1}`, number === 0)) }),
  },
  {
    name: "keys of an associative list",
    items: 15_000,
    path: definitions,
    object: (numbers) =>
      definition({
        versions: [
          version("v1", true, {
            type: "object",
            properties: { list: listBy(numbers.map((number) => `k${number}`)) },
          }),
        ],
      }),
  },
  {
    name: "owners with the same uid",
    items: 6000,
    path: "/api/v1/namespaces/default/configmaps",
    object: (numbers) => ({
      metadata: {
        name: "c",
        ownerReferences: numbers.map((number) => ({ apiVersion: "v1", kind: "Pod", name: `p${number}`, uid: "u" })),
      },
    }),
  },
  {
    name: "topologies of a storage class",
    items: 6000,
    path: "/apis/storage.k8s.io/v1/storageclasses",
    object: (numbers) => ({
      metadata: { name: "s" },
      provisioner: "example.com/p",
      allowedTopologies: numbers.map((number) => ({ matchLabelExpressions: [{ key: "a", values: [`v${number}`] }] })),
    }),
  },
  {
    name: "ports of a service",
    items: 5000,
    statuses: [201, 500], // There are fewer node ports.
    path: "/api/v1/namespaces/default/services",
    object: (numbers) => ({
      metadata: { name: "s" },
      spec: { type: "NodePort", ports: numbers.map((number) => ({ name: `p${number}`, port: number + 1 })) },
    }),
  },
];

const { client } = await startServerWithClient();

for (const { name, items, statuses = [201], path, object } of rows) {
  const prepare = (count: number): (() => Promise<void>) => {
    const body = object(Array.from({ length: count }, (_, number) => number));
    return async () => {
      const answer = await client.send({ method: "POST", path: `${path}?dryRun=All`, body });
      assert.ok(statuses.includes(answer.status), answer.text.slice(0, 300));
    };
  };
  test(`writes ${name} in linear time`, async () => {
    if (!isFull) return prepare(4 * items)();
    let growth = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < attempts && growth >= growthMax; attempt++)
      growth = (await leastOf(prepare(4 * items))) / (await leastOf(prepare(items)));
    assert.ok(growth < growthMax, `four times the items take ${growth} times the time`);
  });
}
