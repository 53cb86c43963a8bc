/** Encodings of requests and answers, and representations: Tables and metadata. */
import type { Area, BodyEncoding, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { builtinKinds, type Kind } from "../samples.ts";
import { changedSample, create, named, pathOf, query, writeQuery } from "./steps.ts";

export const encodings: Area = {
  name: "encodings",
  make(random) {
    const kind = random.pick(builtinKinds().filter(({ isRisky }) => !isRisky));
    const sample = random.pick(kind.samples);
    const steps: Step[] = [{ ...create(kind, sample.object), encoding: encodingOf(random), headers: acceptOf(random) }];
    for (let count = 6 + random.below(8); count > 0; count--) steps.push(operation(kind, random));
    return steps;
  },
};

const group = "g=meta.k8s.io;v=v1";
const types = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf", "application/cbor"];
const forms = [
  `as=Table;${group}`,
  `as=PartialObjectMetadata;${group}`,
  `as=PartialObjectMetadataList;${group}`,
  "as=Table;g=meta.k8s.io;v=v1beta1",
  "as=PartialObjectMetadata;g=meta.k8s.io;v=v1beta1",
  "as=Other;g=meta.k8s.io;v=v1",
  "as=Table;g=example.com;v=v1",
  "as=Table",
];
const accepts = [
  "*/*",
  "application/*",
  "",
  "text/html",
  "text/plain",
  "application/json;q=0.1,application/yaml;q=0.9",
  "application/json;charset=utf-8",
  "application/json;pretty=1",
  "application/json;pretty=0",
  "application/json;stream=watch",
  "application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
  "application/xml,application/yaml",
  "application/json,;",
  "a",
];

function acceptOf(random: Random): Record<string, string> {
  if (random.chance(0.2)) return { accept: random.pick(accepts) };
  const one = (): string => {
    const type = random.pick(types);
    return random.chance(0.5) ? `${type};${random.pick(forms)}` : type;
  };
  return { accept: random.chance(0.3) ? `${one()},${one()}` : one() };
}

function encodingOf(random: Random): BodyEncoding {
  return random.pick(["json", "yaml", "protobuf", "protobuf", "cbor"]);
}

const selectors = [
  "includeObject=None",
  "includeObject=Object",
  "includeObject=Metadata",
  "includeObject=Other",
  "pretty=true",
  "pretty=1",
  "pretty=false",
];

function operation(kind: Kind, random: Random): Step {
  const headers = acceptOf(random);
  const more = random.chance(0.3) && random.pick(selectors);
  const roll = random.below(12);
  if (roll < 4) return { method: "GET", path: `${pathOf(kind)}${query(more)}`, headers };
  if (roll < 6) {
    const selector = !kind.namespaced && "fieldSelector=metadata.name%3D$ns-a";
    return {
      method: "GET",
      path: `${kind.collection}${query(selector, more, random.chance(0.2) && "limit=1")}`,
      headers,
    };
  }
  const sample = random.pick(kind.samples);
  const encoding = encodingOf(random);
  const wrong: Record<string, string> = random.chance(0.05)
    ? { "content-type": random.pick([...types, "text/plain", "", "application/json;a"]) }
    : {};
  if (roll < 9) {
    const body = named(
      changedSample(sample, kind, "create", random, { unchanged: 0.5 }),
      kind,
      random.pick(["b", "c"]),
    );
    return {
      method: "POST",
      path: `${kind.collection}${writeQuery(random)}`,
      headers: { ...headers, ...wrong },
      body,
      encoding,
    };
  }
  if (roll < 11) {
    const body = changedSample(sample, kind, "update", random, { unchanged: 0.5 });
    return {
      method: "PUT",
      path: `${pathOf(kind)}${writeQuery(random)}`,
      headers: { ...headers, ...wrong },
      body,
      encoding,
    };
  }
  const options = { kind: "DeleteOptions", apiVersion: "v1", gracePeriodSeconds: random.below(3) };
  return { method: "DELETE", path: pathOf(kind), headers, ...(random.chance(0.5) && { body: options, encoding }) };
}
