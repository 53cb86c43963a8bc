/** Expressions, formats, quantities and encoded texts in objects. */
import { expressionBound } from "../contract.ts";
import type { RequestRow } from "../request-attack.ts";
import type { Target } from "../target.ts";

const group = "attack.example.com";

/** A dry run: the server parses and checks the expression. */
const policy = (expression: string) => ({
  method: "POST",
  path: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?dryRun=All",
  body: {
    metadata: { name: "attack" },
    spec: {
      matchConstraints: {
        resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["pods"] }],
      },
      validations: [{ expression }],
    },
  },
});

const claim = (expression: string, target: Target) => ({
  method: "POST",
  path: `/apis/resource.k8s.io/v1/namespaces/${target.namespace}/resourceclaims?dryRun=All`,
  body: {
    metadata: { name: "attack" },
    spec: {
      devices: { requests: [{ name: "r", exactly: { deviceClassName: "c", selectors: [{ cel: { expression } }] } }] },
    },
  },
});

const expressions: readonly [name: string, size: number, text: (size: number) => string][] = [
  ["open parentheses", 60, (size) => "(".repeat(size)],
  ["open brackets", 60, (size) => "[".repeat(size)],
  ["open braces", 60, (size) => "{".repeat(size)],
  ["open calls", 30, (size) => "a(".repeat(size)],
  ["open messages", 30, (size) => "a{".repeat(size)],
  ["mixed brackets", 30, (size) => "([".repeat(size)],
  ["conditions", 30, (size) => "a?".repeat(size)],
  ["dots", 60, (size) => `a${".".repeat(size)}`],
  ["a long chain of operators", 20_000, (size) => `a${"+a".repeat(size)}`],
  ["a long number", 100_000, (size) => `double("${"1".repeat(size)}x") > 0.0`],
  ["a long quantity", 100_000, (size) => `isQuantity("${"0".repeat(size)}x")`],
  ["a long string", 100_000, (size) => `"${" ".repeat(size)}x".trim() == ""`],
  ["an open string", 100_000, (size) => `"${"\\".repeat(size)}`],
];

const formats: readonly [format: string, size: number, text: (size: number) => string][] = [
  ["email", 31, (size) => `${"a".repeat(size)}!`],
  ["email", 50_000, (size) => `${"a.".repeat(size)}@`],
  ["uri", 50_000, (size) => `http://${"a.".repeat(size)} `],
  ["hostname", 50_000, (size) => `${"a-".repeat(size)}!`],
  ["ipv4", 50_000, (size) => "1.".repeat(size)],
  ["ipv6", 50_000, (size) => "0:".repeat(size)],
  ["cidr", 50_000, (size) => `${"0:".repeat(size)}/1`],
  ["mac", 50_000, (size) => "00:".repeat(size)],
  ["uuid", 50_000, (size) => "0-".repeat(size)],
  ["date", 50_000, (size) => "0".repeat(size)],
  ["date-time", 50_000, (size) => `2020-01-01T00:00:00.${"0".repeat(size)}x`],
  ["duration", 50_000, (size) => `${"1h".repeat(size)}x`],
  ["byte", 50_000, (size) => `${"A".repeat(size)}!`],
  ["isbn", 50_000, (size) => "1-".repeat(size)],
  ["creditcard", 50_000, (size) => `${"1 ".repeat(size)}x`],
  ["ssn", 50_000, (size) => "1-".repeat(size)],
  ["hexcolor", 50_000, (size) => "#a".repeat(size)],
  ["rgbcolor", 50_000, (size) => `rgb(${" ".repeat(size)}1`],
  ["bsonobjectid", 50_000, (size) => "a".repeat(size)],
];

const names = [...new Set(formats.map(([format]) => format))];
const property = (format: string): string => format.replace(/-/g, "");

/** Defines a kind with a field of each format, and waits until it is served. */
async function define(target: Target): Promise<void> {
  const properties = Object.fromEntries(names.map((format) => [property(format), { type: "string", format }]));
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } };
  const body = {
    metadata: { name: `things.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
  await target.send({ method: "POST", path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", body });
  for (let attempt = 0; attempt < servedAttemptsMax; attempt++) {
    const { status } = await target.send({ path: things(target) });
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`things.${group} is not served`);
}

const servedAttemptsMax = 100;
const things = ({ namespace }: Target): string => `/apis/${group}/v1/namespaces/${namespace}/things`;

const objects: readonly RequestRow[] = [
  {
    group: "i",
    name: "a quantity of zeros and a letter",
    size: 1_000,
    request: (size, target) => quantity(`${"0".repeat(size)}x`, target),
  },
  {
    group: "i",
    name: "a quantity of digits and a fraction",
    size: 50_000,
    request: (size, target) => quantity(`${"1".repeat(size)}.${"1".repeat(size)}`, target),
  },
  {
    group: "i",
    name: "a certificate authority of many beginnings",
    size: 20_000,
    request: (size) => webhookWithCa("-----BEGIN CERTIFICATE-----\n".repeat(size)),
  },
  {
    group: "i",
    name: "a certificate authority of dashes",
    size: 100_000,
    request: (size) => webhookWithCa(`-----BEGIN ${"-".repeat(size)}`),
  },
  {
    group: "i",
    name: "a time of digits",
    size: 100_000,
    request: (size, target) => ({
      method: "POST",
      path: `/apis/coordination.k8s.io/v1/namespaces/${target.namespace}/leases?dryRun=All`,
      body: { metadata: { name: "l" }, spec: { renewTime: `2020-01-01T00:00:00.${"0".repeat(size)}x` } },
    }),
  },
];

function quantity(text: string, { namespace }: Target) {
  const resources = { limits: { cpu: text } };
  return {
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/pods?dryRun=All`,
    body: { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i", resources }] } },
  };
}

function webhookWithCa(text: string) {
  const webhook = {
    name: "a.example.com",
    admissionReviewVersions: ["v1"],
    sideEffects: "None",
    clientConfig: { url: "https://example.com", caBundle: Buffer.from(text).toString("base64") },
  };
  return {
    method: "POST",
    path: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All",
    body: { metadata: { name: "attack" }, webhooks: [webhook] },
  };
}

export const parserRows: readonly RequestRow[] = [
  ...expressions.map(
    ([name, size, text]): RequestRow => ({
      group: size > 1_000 ? "i" : "f",
      name: `an expression of a policy: ${name}`,
      size,
      bound: expressionBound,
      request: (count) => policy(text(count)),
    }),
  ),
  ...expressions.slice(0, 7).map(
    ([name, size, text]): RequestRow => ({
      group: "f",
      name: `an expression of a claim: ${name}`,
      size,
      bound: expressionBound,
      request: (count, target) => claim(text(count), target),
    }),
  ),
  ...formats.map(
    ([format, size, text]): RequestRow => ({
      group: "g",
      name: `a custom resource with a text of format ${format}${size < 100 ? ", short" : ""}`,
      size,
      prepare: define,
      request: (count, target) => ({
        method: "POST",
        path: `${things(target)}?dryRun=All`,
        body: {
          apiVersion: `${group}/v1`,
          kind: "Thing",
          metadata: { name: "t" },
          spec: { [property(format)]: text(count) },
        },
      }),
    }),
  ),
  ...objects,
];

/** Removes what the attacks with formats have created. */
export async function undefine(target: Target): Promise<void> {
  const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.${group}`;
  await target.send({ method: "DELETE", path });
}
