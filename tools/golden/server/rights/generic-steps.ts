/** Steps for every resource, by the verbs and subresources in discovery. */
import type { RightsStep } from "../../../../test/support/rights-table.ts";
import { namespace, objectOf } from "./objects.ts";

/** An entry of aggregated discovery. */
export interface DiscoveredResource {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly custom: boolean;
  readonly verbs: readonly string[];
  readonly subresources: readonly { readonly name: string; readonly kind: string; readonly verbs: readonly string[] }[];
}

const dry = "?dryRun=All";
/** Background deletion, because otherwise some kinds wait for the garbage collector. */
const background = "?propagationPolicy=Background";
const ours = "labelSelector=of%3Drights";
const apply = "application/apply-patch+yaml";
const mergePatch = "application/merge-patch+json";
const patchTypes = ["application/json-patch+json", "application/strategic-merge-patch+json"];

/** Subresources that are not views of the object. Their steps are in special-steps.ts. */
const specialSubresources = new Set([
  "approval",
  "attach",
  "binding",
  "eviction",
  "exec",
  "finalize",
  "log",
  "portforward",
  "proxy",
  "token",
]);

export function genericSteps(found: DiscoveredResource): RightsStep[] {
  const { group, version, resource, verbs, subresources } = found;
  const root = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = found.namespaced ? `/namespaces/${namespace}` : "";
  const path = `${root}${scope}/${resource}`;
  const has = (verb: string): boolean => verbs.includes(verb);
  const send = (letter: string) => objectOf(found, letter);
  const at = (letter: string) => `${path}/${send(letter).metadata.name}`;
  const protobuf = found.custom ? [] : [{ type: "protobuf" }];
  const name = (letter: string) => `fieldSelector=metadata.name%3D${send(letter).metadata.name}`;
  return [
    ...when(has("list"), [
      { line: `GET ${path}` },
      { line: `GET ${path}?${name("a")}` },
      { line: `GET ${path}?${ours}` },
      ...when(found.namespaced, [{ line: `GET ${root}/${resource}` }]),
    ]),
    ...when(has("watch"), [
      { line: `GET ${path}?watch=1` },
      { line: `GET ${path}?watch=1&${name("a")}&${ours}` },
      { line: `GET ${root}/watch${scope}/${resource}?${name("a")}` },
      { line: `GET ${root}/watch${scope}/${resource}/${send("a").metadata.name}` },
    ]),
    ...when(has("create"), [
      ...[{}, ...protobuf].flatMap((type) => [{ line: `POST ${path}${dry}`, ...type, body: send("a") }]),
      { line: `POST ${path}`, body: send("a") },
      ...protobuf.map((type) => ({ line: `POST ${path}`, ...type, body: send("d") })),
    ]),
    ...when(has("get"), [{ line: `GET ${at("a")}` }, { line: `GET ${at("z")}` }]),
    ...when(has("update"), [
      ...[{}, ...protobuf].flatMap((type) => [
        { line: `PUT ${at("a")}${dry}`, ...type, current: at("a") },
        { line: `PUT ${at("a")}`, ...type, current: at("a"), body: { metadata: { labels: { ...type, put: "1" } } } },
        { line: `PUT ${at("b")}${dry}`, ...type, body: send("b") },
      ]),
      { line: `PUT ${at("b")}`, body: send("b") },
      ...protobuf.map((type) => ({ line: `PUT ${at("e")}`, ...type, body: send("e") })),
    ]),
    ...when(has("patch"), [
      { line: `PATCH ${at("a")}${dry}`, type: mergePatch, body: {} },
      { line: `PATCH ${at("a")}`, type: mergePatch, body: { metadata: { labels: { merged: "1" } } } },
      { line: `PATCH ${at("z")}`, type: mergePatch, body: {} },
      ...patchTypes.map((type) => ({ line: `PATCH ${at("a")}`, type, body: type.includes("json-patch") ? [] : {} })),
      ...["a", "c"].flatMap((letter) => [
        { line: `PATCH ${at(letter)}${dry}&fieldManager=m&force=true`, type: apply, body: send(letter) },
        { line: `PATCH ${at(letter)}?fieldManager=m&force=true`, type: apply, body: send(letter) },
      ]),
    ]),
    ...subresources.filter(({ name }) => !specialSubresources.has(name)).flatMap((one) => viewSteps(found, at, one)),
    ...when(has("delete"), [
      { line: `DELETE ${at("a")}${dry}` },
      { line: `DELETE ${at("a")}`, body: { apiVersion: "v1", kind: "DeleteOptions", dryRun: ["All"] } },
      { line: `DELETE ${at("z")}` },
      { line: `DELETE ${at("a")}${background}` },
    ]),
    ...when(has("deletecollection"), [
      { line: `DELETE ${path}${dry}&${ours}` },
      { line: `DELETE ${path}${background}&${name("c")}` },
      { line: `DELETE ${path}${background}&${ours}` },
    ]),
  ];
}

function when(condition: boolean, steps: RightsStep[]): RightsStep[] {
  return condition ? steps : [];
}

/** Steps for `/status`, `/scale` and other views of the object. */
function viewSteps(
  found: DiscoveredResource,
  at: (letter: string) => string,
  { name, kind, verbs }: DiscoveredResource["subresources"][number],
): RightsStep[] {
  const has = (verb: string): boolean => verbs.includes(verb);
  const [there, missing] = [`${at("a")}/${name}`, `${at("z")}/${name}`];
  const applied = (letter: string): object => {
    const { apiVersion, metadata } = objectOf(found, letter);
    return { apiVersion: kind === "Scale" ? "autoscaling/v1" : apiVersion, kind, metadata: { name: metadata.name } };
  };
  const protobuf = found.custom ? [] : [{ type: "protobuf" }];
  return [
    ...when(has("get"), [{ line: `GET ${there}` }, { line: `GET ${missing}` }]),
    ...when(has("update"), [
      ...[{}, ...protobuf].flatMap((type) => [
        { line: `PUT ${there}${dry}`, ...type, current: there },
        { line: `PUT ${there}`, ...type, current: there },
      ]),
      {
        line: `PUT ${missing}`,
        current: there,
        body: { metadata: { name: objectOf(found, "z").metadata.name, resourceVersion: "", uid: "" } },
      },
    ]),
    ...when(has("patch"), [
      { line: `PATCH ${there}${dry}`, type: mergePatch, body: {} },
      { line: `PATCH ${there}`, type: mergePatch, body: {} },
      { line: `PATCH ${missing}`, type: mergePatch, body: {} },
      { line: `PATCH ${there}?fieldManager=m&force=true`, type: apply, body: applied("a") },
      { line: `PATCH ${missing}?fieldManager=m&force=true`, type: apply, body: applied("z") },
    ]),
  ];
}
