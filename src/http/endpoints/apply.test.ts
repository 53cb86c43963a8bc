/**
 * Server-side apply and managed fields, request by request: the managers after each. See KEP-555.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { customThing } from "../../../test/support/custom-thing.ts";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { ManagedFieldsEntry } from "../../apimachinery/object.ts";
import type { MutableCatalog, ResourceDefinition } from "../../catalog/contract.ts";

const maps = "/api/v1/namespaces/n/configmaps";
const deployments = "/apis/apps/v1/namespaces/n/deployments";

const map = (data?: unknown, metadata: object = {}): object => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "a", ...metadata },
  ...(data !== undefined && { data }),
});

const deployment = (spec: object, metadata: object = {}): object => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name: "d", ...metadata },
  spec: {
    selector: { matchLabels: { a: "b" } },
    template: { metadata: { labels: { a: "b" } }, spec: { containers: [] } },
    ...spec,
  },
});

const container = (name: string, more: object = {}): object => ({ name, image: "i", ...more });
const template = (...containers: object[]): object => ({ metadata: { labels: { a: "b" } }, spec: { containers } });

/**
 * `one Apply f:data{f:k}`: manager, operation, `/subresource` if any, and the paths. `=` before a
 * status means that the version stays the same.
 */
interface Step {
  readonly request: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** 200 by default. */
  readonly status?: number;
  /** The message of an error. */
  readonly message?: string;
  readonly managers?: readonly string[];
  /** A part of the response. */
  readonly want?: object;
  /** Whether the resourceVersion is that of the previous step. */
  readonly unchanged?: boolean;
}

const selector = "f:selector";
const secrets = "/api/v1/namespaces/n/secrets";
const secret = (more: object): object => ({ apiVersion: "v1", kind: "Secret", metadata: { name: "a" }, ...more });
const slices = "/apis/discovery.k8s.io/v1/namespaces/n/endpointslices";
const slice = (endpoint: object): object => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { name: "e" },
  addressType: "IPv4",
  endpoints: [{ addresses: ["1.1.1.1"], ...endpoint }],
});
const roles = "/apis/rbac.authorization.k8s.io/v1/namespaces/n/roles";
const role = (rules: unknown): object => ({
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "Role",
  metadata: { name: "r" },
  rules,
});
const leases = "/apis/coordination.k8s.io/v1/namespaces/n/leases";
const lease = (metadata: object): object => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: { name: "l", ...metadata },
  spec: {},
});
const taken = 'leases.coordination.k8s.io "m" already exists'; // Not "object is being deleted: ".
const accounts = "/api/v1/namespaces/n/serviceaccounts";
const account = (more: object): object => ({
  apiVersion: "v1",
  kind: "ServiceAccount",
  metadata: { name: "s" },
  ...more,
});
const revisions = "/apis/apps/v1/namespaces/n/controllerrevisions";
const revision = (data: object): object => ({
  apiVersion: "apps/v1",
  kind: "ControllerRevision",
  metadata: { name: "r" },
  revision: 1,
  data,
});
const unconvertible = (kind: string): string =>
  `failed to convert new object (/a; /v1, Kind=${kind}) to proper version: unable to convert unstructured object to /v1, Kind=${kind}`;

const sessions: Readonly<Record<string, readonly Step[]>> = {
  "a life": [
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ k: "v", l: "w" }),
      status: 201,
      managers: ["one Apply v1 data{k,l}"],
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ k: "v", l: "w" }),
      managers: ["one Apply v1 data{k,l}"],
      unchanged: true,
    },
    {
      request: `APPLY ${maps}/a?fieldManager=two`,
      body: map({ k: "other" }),
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "one": .data.k',
    },
    {
      request: `APPLY ${maps}/a?fieldManager=two`,
      body: map({ k: "other", l: "also" }),
      status: 409,
      message: 'Apply failed with 2 conflicts: conflicts with "one":\n- .data.k\n- .data.l',
    },
    {
      request: `APPLY ${maps}/a?fieldManager=two`,
      body: map({ k: "v" }),
      managers: ["two Apply v1 data{k}", "one Apply v1 data{k,l}"],
    }, // Nothing changed, so there is no time.
    {
      request: `APPLY ${maps}/a?fieldManager=two&force=true`,
      body: map({ k: "x" }),
      managers: ["one Apply v1 data{l}", "two Apply v1 data{k}"],
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ l: "w" }),
      managers: ["one Apply v1 data{l}", "two Apply v1 data{k}"],
      unchanged: true,
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map(),
      managers: ["two Apply v1 data{k}"],
      want: { data: { k: "x" } },
    },
    {
      request: `APPLY ${maps}/a?fieldManager=two`,
      body: map(undefined, { labels: { x: "y" } }),
      managers: ["two Apply v1 metadata{labels{x}}"],
    },
    {
      request: `MERGE ${maps}/a?fieldManager=three`,
      body: { data: { z: "1" } },
      managers: ["two Apply v1 metadata{labels{x}}", "three Update v1 data{.,z}"],
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ z: "2" }),
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "three" using v1: .data.z',
    },
    { request: `PUT ${maps}/a`, body: map({ z: "3" }, { managedFields: [{}] }), managers: [] },
    { request: `MERGE ${maps}/a`, body: { data: { y: "1" } }, managers: [] },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ z: "4" }),
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.z',
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one&force=true`,
      body: map({ z: "4" }),
      managers: ["one Apply v1 data{z}", "before-first-apply Update v1 data{.,y}"],
    },
  ],
  "atomic values are compared as they are written, with the empty fields that Go adds": [
    {
      request: `APPLY ${slices}/e?fieldManager=one`,
      body: slice({}),
      status: 201,
      managers: ["one Apply discovery.k8s.io/v1 addressType,endpoints"],
    },
    {
      request: `APPLY ${slices}/e?fieldManager=one`,
      body: slice({}),
      managers: ["one Apply discovery.k8s.io/v1 addressType,endpoints"],
      unchanged: true,
    },
    {
      request: `APPLY ${slices}/e?fieldManager=two`,
      body: slice({}),
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "one": .endpoints',
    },
    {
      request: `APPLY ${slices}/e?fieldManager=two`,
      body: slice({ conditions: {} }),
      managers: [
        "two Apply discovery.k8s.io/v1 addressType,endpoints",
        "one Apply discovery.k8s.io/v1 addressType,endpoints",
      ],
    },
    {
      request: `APPLY ${slices}/e?fieldManager=two&force=true`,
      body: slice({}),
      managers: ["one Apply discovery.k8s.io/v1 addressType", "two Apply discovery.k8s.io/v1 addressType,endpoints"],
    },
    { request: `APPLY ${roles}/r?fieldManager=one`, body: role(null), status: 201 },
    { request: `APPLY ${roles}/r?fieldManager=two`, body: role(null) },
    {
      request: `APPLY ${roles}/r?fieldManager=two`,
      body: role([]),
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "one": .rules',
    },
  ],
  "an empty list clears": [
    { request: `POST ${maps}?fieldManager=m`, body: map({ a: "1" }), status: 201, managers: ["m Update v1 data{.,a}"] },
    { request: `PUT ${maps}/a?fieldManager=x`, body: map({ a: "2" }, { managedFields: [] }), managers: [] },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ a: "3" }),
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "before-first-apply" using v1: .data.a',
    },
  ],
  "clearing, and what does not clear": [
    { request: `POST ${maps}?fieldManager=m`, body: map({ a: "1" }), status: 201, managers: ["m Update v1 data{.,a}"] },
    {
      request: `MERGE ${maps}/a`,
      body: { metadata: { managedFields: [{}, {}] } },
      managers: ["m Update v1 data{.,a}"],
      unchanged: true,
    },
    {
      request: `JSON ${maps}/a`,
      body: [{ op: "replace", path: "/metadata/managedFields", value: [{}] }],
      managers: [],
    },
    { request: `MERGE ${maps}/a?fieldManager=x`, body: { data: { a: "2" } }, managers: [] },
  ],
  "managed fields that clients write": [
    { request: `POST ${maps}`, body: map({ a: "1" }), status: 201, managers: ["unknown Update v1 data{.,a}"] },
    {
      request: `MERGE ${maps}/a`,
      body: {
        metadata: {
          managedFields: [
            {
              manager: "m",
              operation: "Apply",
              apiVersion: "v1",
              fieldsType: "FieldsV1",
              fieldsV1: { "f:data": { "f:a": {} } },
            },
          ],
        },
      },
      managers: ["m Apply v1 data{a}"],
    },
    {
      request: `MERGE ${maps}/a`,
      body: {
        metadata: {
          managedFields: [{ manager: "m", operation: "Odd", apiVersion: "v1", fieldsType: "FieldsV1", fieldsV1: {} }],
        },
      },
      managers: ["m Apply v1 data{a}"],
      unchanged: true,
    },
    {
      request: `MERGE ${maps}/a`,
      body: {
        metadata: {
          managedFields: [
            {
              manager: "m",
              operation: "Update",
              apiVersion: "zz/v7",
              fieldsType: "FieldsV1",
              fieldsV1: { "f:data": {} },
            },
          ],
        },
      },
      managers: [],
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: map(undefined, { managedFields: [{}] }),
      status: 400,
      message: "metadata.managedFields must be nil",
    },
  ],
  "updates move what they change, and never conflict": [
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ a: "1", b: "1" }),
      status: 201,
      managers: ["one Apply v1 data{a,b}"],
    },
    {
      request: `PUT ${maps}/a`,
      body: map({ a: "2", b: "1" }),
      headers: { "user-agent": "kube\u0001ctl/v1.36 (linux)" },
      managers: ["one Apply v1 data{b}", "kubectl Update v1 data{a}"],
    },
    {
      request: `PUT ${maps}/a?fieldManager=other`,
      body: map({ a: "2", b: "1" }),
      managers: ["one Apply v1 data{b}", "kubectl Update v1 data{a}"],
      unchanged: true,
    },
    {
      request: `MERGE ${maps}/a?fieldManager=kubectl`,
      body: { data: { c: "1" } },
      managers: ["one Apply v1 data{b}", "kubectl Update v1 data{a,c}"],
    },
    {
      request: `MERGE ${maps}/a?fieldManager=kubectl`,
      body: { data: { a: null } },
      managers: ["one Apply v1 data{b}", "kubectl Update v1 data{c}"],
    },
  ],
  "lists by key, and fields removed with their last owner": [
    {
      request: `APPLY ${deployments}/d?fieldManager=one`,
      body: deployment({ template: template(container("a"), container("b", { ports: [{ containerPort: 80 }] })) }),
      status: 201,
      managers: [
        `one Apply apps/v1 spec{${selector.slice(2)},template{metadata{labels{a}},spec{containers{k:{"name":"a"}{.,image,name},k:{"name":"b"}{.,image,name,ports{k:{"containerPort":80,"protocol":"TCP"}{.,containerPort}}}}}}}`,
      ],
    },
    {
      request: `APPLY ${deployments}/d?fieldManager=two`,
      body: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: { template: { spec: { containers: [container("c")] } } },
      },
      want: { spec: { template: { spec: { containers: [{ name: "a" }, { name: "b" }, { name: "c" }] } } } },
    },
    {
      request: `APPLY ${deployments}/d?fieldManager=one`,
      body: deployment({ template: template(container("b")) }),
      want: { spec: { template: { spec: { containers: [{ name: "b", ports: undefined }, { name: "c" }] } } } },
    },
    {
      request: `APPLY ${deployments}/d?fieldManager=two`,
      body: {
        apiVersion: "apps/v1",
        kind: "Deployment",
        metadata: { name: "d" },
        spec: { template: { spec: { containers: [container("b", { image: "j" })] } } },
      },
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "one": .spec.template.spec.containers[name="b"].image',
    },
  ],
  "subresources have entries of their own": [
    {
      request: `POST ${deployments}?fieldManager=m`,
      body: deployment({ replicas: 2, template: template(container("a")) }),
      status: 201,
    },
    {
      request: `MERGE ${deployments}/d/status?fieldManager=c`,
      body: { status: { replicas: 2 }, spec: { replicas: 7 } },
      want: { spec: { replicas: 2 }, status: { replicas: 2 } },
    },
    {
      request: `APPLY ${deployments}/d/status?fieldManager=s`,
      body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, status: { replicas: 3 } },
      status: 409,
      message:
        'Apply failed with 1 conflict: conflict with "c" with subresource "status" using apps/v1: .status.replicas',
    },
    {
      request: `MERGE ${deployments}/d/scale?fieldManager=hpa`,
      body: { spec: { replicas: 5 } },
      want: { kind: "Scale", spec: { replicas: 5 } },
    },
    {
      request: `APPLY ${deployments}/d?fieldManager=x`,
      body: { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "d" }, spec: { replicas: 2 } },
      status: 409,
      message:
        'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using apps/v1: .spec.replicas',
    },
    {
      request: `APPLY ${deployments}/d/scale?fieldManager=y`,
      body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas: 6 } },
      status: 409,
      message:
        'Apply failed with 1 conflict: conflict with "hpa" with subresource "scale" using autoscaling/v1: .spec.replicas',
    },
    {
      request: `APPLY ${deployments}/d/scale?fieldManager=y&force=true`,
      body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas: 6 } },
      want: { kind: "Scale", spec: { replicas: 6 } },
    },
  ],
  "a rejected apply changes nothing": [
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: map({ a: 5 }),
      status: 500,
      message:
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data.a: expected string, got &value.valueUnstructured{Value:5}",
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: map({ a: 5, b: true }),
      status: 500,
      message:
        "failed to create typed patch object (/a; /v1, Kind=ConfigMap): errors:\n  .data.a: expected string, got &value.valueUnstructured{Value:5}\n  .data.b: expected string, got &value.valueUnstructured{Value:true}",
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: { ...map(), bogus: 1 },
      status: 500,
      message: "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .bogus: field not declared in schema",
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: { ...map(), data: [] },
      status: 500,
      message: "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .data: expected map, got &{[]}",
    },
    { request: `APPLY ${maps}/a?fieldManager=m`, body: "a: [", status: 400 },
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: map(undefined, { ownerReferences: [{ apiVersion: "v1", kind: "Pod", name: "p" }] }),
      status: 422,
      message: 'ConfigMap "a" is invalid: metadata.ownerReferences.uid: Invalid value: "": must not be empty',
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } },
      status: 400,
      message: "invalid object type: /v1, Kind=Secret",
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: map(undefined, { name: "b" }),
      status: 400,
      message: "the name of the object (b) does not match the name on the URL (a)",
    },
    {
      request: `APPLY ${maps}/a`,
      body: map(),
      status: 422,
      message: 'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    },
    { request: `GET ${maps}/a`, status: 404 },
    {
      request: `APPLY ${maps}/a?fieldManager=m&dryRun=All`,
      body: map({ a: "1" }),
      status: 201,
      managers: ["m Apply v1 data{a}"],
    },
    { request: `GET ${maps}/a`, status: 404 },
    { request: `APPLY ${maps}/a?fieldManager=m`, body: map(undefined, { uid: "x" }), status: 409 },
  ],
  "replicas that were updated through scale": [
    {
      request: `POST ${deployments}?fieldManager=m`,
      body: deployment({ replicas: 2, template: template(container("c")) }),
      status: 201,
    },
    { request: `MERGE ${deployments}/d/scale?fieldManager=s`, body: { spec: { replicas: 3 } } },
    {
      request: `PUT ${deployments}/d?fieldManager=s`,
      body: deployment({ replicas: 3, template: template(container("c")) }),
      want: {
        metadata: {
          managedFields: [
            { manager: "s", subresource: "scale", fieldsV1: { "f:spec": { "f:replicas": {} } } },
            { manager: "m" },
          ],
        },
      },
    },
    {
      request: `MERGE ${deployments}/d/scale?fieldManager=t`,
      body: {},
      want: { spec: { replicas: 3 } },
    },
  ],
  "replicas of 0, which Go omits": [
    {
      request: `POST ${deployments}?fieldManager=m`,
      body: deployment({ replicas: 0, template: template(container("c")) }),
      status: 201,
    },
    {
      request: `APPLY ${deployments}/d/scale?fieldManager=s`,
      body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d" }, spec: { replicas: 0 } },
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "m" using autoscaling/v1: .spec.replicas',
    },
    {
      request: `PUT ${deployments}/d/scale?fieldManager=s`,
      body: { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "d", uid: "x" }, spec: { replicas: 0 } },
      status: 409,
    },
  ],
  "what is emptied, and what was never owned": [
    {
      request: `APPLY ${secrets}/a?fieldManager=one`,
      body: secret({ stringData: { s: "x" }, data: { a: "YQ==" } }),
      status: 201,
    },
    {
      request: `APPLY ${secrets}/a?fieldManager=one`,
      body: secret({ data: {} }),
      managers: ["one Apply v1 data"],
      want: { data: { s: "eA==" } },
    },
  ],
  "creating keeps the times of a deletion, which a POST removes": [
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map(
        { a: "1" },
        {
          deletionTimestamp: "2020-01-01T00:00:00Z",
          deletionGracePeriodSeconds: 5,
          selfLink: "/x",
          resourceVersion: "5",
        },
      ),
      status: 201,
      managers: ["one Apply v1 data{a},metadata{deletionGracePeriodSeconds,deletionTimestamp}"],
      want: { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 } },
    },
    { request: `DELETE ${maps}/a`, want: { status: "Success" } },
    { request: `GET ${maps}/a`, status: 404 },
    {
      request: `PUT ${leases}/l`,
      body: lease({ deletionTimestamp: "2020-01-01T00:00:00Z", finalizers: ["a/b"] }),
      status: 201,
      want: { metadata: { deletionTimestamp: "2020-01-01T00:00:00Z" } },
    },
    { request: `POST ${leases}`, body: lease({ name: "m", deletionTimestamp: "2020-01-01T00:00:00Z" }), status: 201 },
    { request: `POST ${leases}`, body: lease({ name: "m" }), status: 409, message: taken },
    {
      request: `APPLY ${maps}/a?fieldManager=one&dryRun=All`,
      body: map({ a: "1" }, { selfLink: "/x", resourceVersion: "5" }),
      status: 201,
      want: { metadata: { selfLink: "/x", resourceVersion: "5" } },
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map({ a: "1" }, { resourceVersion: "abc" }),
      status: 500,
      message: 'strconv.ParseUint: parsing "abc": invalid syntax',
    },
  ],
  "items without keys, which upstream cannot track": [
    { request: `POST ${accounts}?fieldManager=m`, body: account({ secrets: [{}] }), status: 201, managers: [] },
    {
      request: `APPLY ${accounts}/s?fieldManager=one`,
      body: account({ metadata: { name: "s", labels: { a: "b" } } }),
      status: 500,
      message: `failed to create manager for existing fields: failed to convert new object (n/s; /v1, Kind=ServiceAccount) to smd typed: .secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
    },
    { request: `MERGE ${accounts}/s`, body: { secrets: null }, managers: [] },
    {
      request: `APPLY ${accounts}/s?fieldManager=one`,
      body: account({ secrets: [{ name: "a" }] }),
      managers: ['one Apply v1 secrets{k:{"name":"a"}}'],
    },
  ],
  "items with an empty key that Go omits": [
    {
      request: `POST ${accounts}?fieldManager=m`,
      body: account({ secrets: [{ name: "" }] }),
      status: 201,
      managers: [],
    },
    { request: `MERGE ${accounts}/s`, body: { secrets: null }, managers: [] },
    {
      request: `APPLY ${accounts}/s?fieldManager=one`,
      body: account({ secrets: [{ name: "" }] }),
      managers: ['one Apply v1 secrets{k:{"name":""}}'],
    },
    {
      request: `APPLY ${accounts}/s?fieldManager=one`,
      body: account({ secrets: [{ name: "" }, { name: "x" }] }),
      status: 500,
      message: `failed to create typed live object (n/s; /v1, Kind=ServiceAccount): .secrets: element 0: associative list with keys has an element that omits all key fields ["name"] (and doesn't have default values for any key fields)`,
    },
  ],
  "raw values, whose members have an order": [
    { request: `POST ${revisions}`, body: revision({ b: 2, a: 1 }), status: 201 },
    { request: `PUT ${revisions}/r`, body: revision({ b: 2, a: 1 }), unchanged: true },
    {
      request: `PUT ${revisions}/r`,
      body: revision({ a: 1, b: 2 }),
      status: 422,
      message: 'ControllerRevision.apps "r" is invalid: data: Invalid value: {"a":1,"b":2}: field is immutable',
    },
  ],
  "values without a form": [
    {
      request: `APPLY ${secrets}/a?fieldManager=one`,
      body: secret({ data: { a: "!" } }),
      status: 500,
      message: `${unconvertible("Secret")}: error decoding from json: illegal base64 data at input byte 0`,
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map(undefined, { deletionGracePeriodSeconds: 1.5 }),
      status: 500,
      message: `${unconvertible("ConfigMap")}: cannot convert float64 to int64`,
    },
    {
      request: `APPLY ${maps}/a?fieldManager=one`,
      body: map(undefined, { creationTimestamp: 5 }),
      status: 500,
      message: `${unconvertible("ConfigMap")}: json: cannot unmarshal number into Go value of type string`,
    },
  ],
  "YAML, doubled keys": [
    {
      request: `APPLY ${maps}/a?fieldManager=m`,
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: x\n",
      status: 201,
      managers: ["m Apply v1 data{a}"],
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m&fieldValidation=Strict`,
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: x\n  a: z\n",
      status: 400,
    },
    {
      request: `APPLY ${maps}/a?fieldManager=m&fieldValidation=Strict`,
      body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\nbinaryData:\n  a: '!'\n  a: '!'\n",
      status: 500,
      message: `${unconvertible("ConfigMap")}: error decoding from json: illegal base64 data at input byte 0`,
    },
  ],
  "kubectl's own annotation explains conflicts, and is kept current": [
    {
      request: `POST ${maps}?fieldManager=kubectl-client-side-apply`,
      body: map(
        { a: "1", b: "1" },
        {
          annotations: {
            "kubectl.kubernetes.io/last-applied-configuration":
              '{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"a","namespace":"n"}}\n',
          },
        },
      ),
      status: 201,
    },
    { request: `APPLY ${maps}/a?fieldManager=other`, body: map({ a: "2" }), status: 409 },
    {
      request: `APPLY ${maps}/a?fieldManager=kubectl`,
      body: map({ b: "2" }),
      status: 409,
      message: 'Apply failed with 1 conflict: conflict with "kubectl-client-side-apply" using v1: .data.b',
    },
    {
      request: `APPLY ${maps}/a?fieldManager=kubectl`,
      body: map({ a: "2" }),
      want: {
        data: { a: "2" },
        metadata: {
          annotations: {
            "kubectl.kubernetes.io/last-applied-configuration":
              '{"apiVersion":"v1","data":{"a":"2"},"kind":"ConfigMap","metadata":{"name":"a"}}\n',
          },
        },
      },
    },
  ],
};

async function play(registry: Parameters<typeof send>[0], steps: readonly Step[]): Promise<void> {
  let version = "";
  for (const [index, { request, body, headers, status = 200, message, managers, want, unchanged }] of steps.entries()) {
    const answer = await send(registry, request, body, headers);
    const where = `${index} ${request}: ${JSON.stringify(answer.body)}`;
    assert.equal(answer.status, status, where);
    if (message !== undefined) assert.equal(answer.body.message, message, where);
    if (want !== undefined) assert.partialDeepStrictEqual(answer.body, JSON.parse(JSON.stringify(want)), where);
    const { resourceVersion = version, managedFields } = answer.body.metadata ?? {};
    if (managers !== undefined) assert.deepEqual((managedFields ?? []).map(describeEntry), managers, where);
    if (unchanged) assert.equal(resourceVersion, version, where);
    version = resourceVersion;
  }
}

/** All writes have the same time, by which managed fields are sorted. */
const openRegistry = () => openMemoryRegistry({ clock: manualClock() });

for (const [name, steps] of Object.entries(sessions)) {
  test(name, async () => {
    const { registry, close } = await openRegistry();
    await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
    await play(registry, steps);
    await close();
  });
}

test("keeps ten update managers; the oldest are merged into one", async () => {
  const { registry, close } = await openRegistry();
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
  await send(registry, `POST ${maps}?fieldManager=m0`, map({ k0: "1" }));
  let entries: ManagedFieldsEntry[] = [];
  for (let writer = 1; writer < 15; writer++) {
    const { body } = await send(registry, `MERGE ${maps}/a?fieldManager=m${String(writer).padStart(2, "0")}`, {
      data: { [`k${writer}`]: "1" },
    });
    entries = body.metadata.managedFields;
  }
  assert.equal(entries.length, 10);
  const ancient = entries.find(({ manager }) => manager === "ancient-changes")?.fieldsV1 ?? {};
  assert.equal(describeFields(ancient), "data{.,k0,k1,k2,k3,k4,k5}");
  await close();
});

const things = "/apis/example.com/v1/namespaces/n/things";
const intent = (more: object): object => ({
  apiVersion: "example.com/v1",
  kind: "Thing",
  metadata: { name: "t" },
  ...more,
});

const customSession: readonly Step[] = [
  {
    request: `APPLY ${things}/t?fieldManager=one`,
    body: intent({
      spec: { keyed: [{ name: "a", value: "1" }], set: ["x"], atomic: ["p"], whole: { k: "v" } },
      free: { deep: { a: 1 }, list: [{ b: 2 }] },
    }),
    status: 201,
    managers: [
      'one Apply example.com/v1 free{deep{.,a},list},spec{atomic,keyed{k:{"name":"a"}{.,name,value}},set{v:"x"},whole}',
    ],
  },
  {
    request: `APPLY ${things}/t?fieldManager=two`,
    body: intent({ spec: { keyed: [{ name: "b" }], set: ["y"] }, free: { deep: { b: 1 } } }),
    want: {
      spec: { keyed: [{ name: "a", value: "1" }, { name: "b" }], set: ["x", "y"] },
      free: { deep: { a: 1, b: 1 }, list: [{ b: 2 }] },
    },
  },
  {
    request: `APPLY ${things}/t?fieldManager=two`,
    body: intent({ spec: { atomic: ["q"], whole: { l: "w" } }, free: { list: [] } }),
    status: 409,
    message: 'Apply failed with 3 conflicts: conflicts with "one":\n- .free.list\n- .spec.atomic\n- .spec.whole',
  },
  { request: `APPLY ${things}/t?fieldManager=two`, body: intent({ spec: { set: ["y", "y"] } }), status: 500 },
  {
    request: `APPLY ${things}/t?fieldManager=one`,
    body: intent({ spec: { set: ["x"] } }),
    managers: [
      'one Apply example.com/v1 spec{set{v:"x"}}',
      'two Apply example.com/v1 free{deep{.,b}},spec{keyed{k:{"name":"b"}{.,name}},set{v:"y"}}',
    ],
  },
  { request: `GET ${things}/t`, want: { spec: { keyed: [{ name: "b" }], set: ["x", "y"] }, free: { deep: { b: 1 } } } },
];

test("a custom kind: lists by their schema, other fields by their values", async () => {
  const { registry, close } = await openRegistry();
  const catalog = registry.catalog as MutableCatalog;
  catalog.add(
    customThing(
      catalog
        .definitions()
        .find(({ group, resource }) => group === "" && resource === "configmaps") as ResourceDefinition,
    ),
  );
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
  await play(registry, customSession);
  await close();
});

const storageVersions = "/apis/internal.apiserver.k8s.io/v1alpha1/storageversions";
const storageVersion = (spec: unknown): object => ({
  apiVersion: "internal.apiserver.k8s.io/v1alpha1",
  kind: "StorageVersion",
  metadata: { name: "a.b" },
  spec,
});

const fieldlessSession: readonly Step[] = [
  {
    request: `APPLY ${storageVersions}/a.b?fieldManager=one`,
    body: storageVersion({ a: { b: [1] } }),
    status: 201,
    managers: ["one Apply internal.apiserver.k8s.io/v1alpha1 spec{a{.,b}}"],
    want: { spec: {} },
  },
  {
    request: `APPLY ${storageVersions}/a.b?fieldManager=two`,
    body: storageVersion({ a: { b: [1] } }),
    status: 409,
    message: 'Apply failed with 2 conflicts: conflicts with "one":\n- .spec.a\n- .spec.a.b',
  },
  {
    request: `APPLY ${storageVersions}/a.b?fieldManager=two`,
    body: storageVersion([]),
    status: 500,
    message:
      "failed to create typed patch object (/a.b; internal.apiserver.k8s.io/v1alpha1, Kind=StorageVersion): .spec: expected map, got &{[]}",
  },
];

test("a struct without fields accepts and owns any field, which is not stored", async () => {
  const options = { featureGates: "AllAlpha=true", allVersionsOf: ["internal.apiserver.k8s.io"] };
  const { registry, close } = await openMemoryRegistry(options);
  await play(registry, fieldlessSession);
  await close();
});

const podGroups = "/apis/scheduling.k8s.io/v1alpha2/namespaces/n/podgroups";
const podGroup = (more: object): object => ({
  apiVersion: "scheduling.k8s.io/v1alpha2",
  kind: "PodGroup",
  metadata: { name: "g" },
  ...more,
});

const gatedSession: readonly Step[] = [
  { request: `POST ${podGroups}`, body: podGroup({ spec: { schedulingPolicy: { basic: {} } } }), status: 201 },
  {
    request: `MERGE ${podGroups}/g/status?fieldManager=s`,
    body: { status: { resourceClaimStatuses: [{ name: "a" }] } },
    want: { status: {} },
  },
  {
    request: `APPLY ${podGroups}/g/status?fieldManager=s&force=true`,
    body: podGroup({ status: { resourceClaimStatuses: [{ name: "a" }] } }),
    want: { status: {} },
  },
];

test("drops a field of a status whose gate is off", async () => {
  const options = { featureGates: "GenericWorkload=true", allVersionsOf: ["scheduling.k8s.io"] };
  const { registry, close } = await openMemoryRegistry(options);
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
  await play(registry, gatedSession);
  const { body } = await send(registry, `GET ${podGroups}/g`);
  assert.deepEqual(body.status, {});
  await close();
});

function describeEntry({ manager, operation, apiVersion, subresource, fieldsV1 }: ManagedFieldsEntry): string {
  return `${manager} ${operation} ${apiVersion}${subresource === undefined ? "" : `/${subresource}`} ${describeFields(fieldsV1 ?? {})}`;
}

/** `data{.,k}`, with lists' keys in full. */
function describeFields(fields: Record<string, unknown>): string {
  const parts = Object.entries(fields).map(([element, below]) => {
    const name = element.startsWith("f:") ? element.slice(2) : element;
    const inside = describeFields(below as Record<string, unknown>);
    return inside === "" ? name : `${name}{${inside}}`;
  });
  return parts.join(",");
}
