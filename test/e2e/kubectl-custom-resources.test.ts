/**
 * kubectl with custom resources right after it applies their definition; each version of kubectl
 * has its own server.
 */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { startTestServer } from "../support/start-test-server.ts";

const definition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [wd], categories: [all, tools]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size, labelSelectorPath: .status.selector}
    additionalPrinterColumns:
    - {name: Size, type: integer, jsonPath: .spec.size}
    - {name: Ready, type: string, jsonPath: '.status.conditions[?(@.type=="Ready")].status'}
    - {name: Color, type: string, jsonPath: .spec.color, priority: 1}
    - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
    selectableFields: [{jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        description: A Widget turns.
        required: [spec]
        properties:
          spec:
            type: object
            description: The desired widget.
            properties:
              size: {type: integer, minimum: 0, default: 1, description: How many.}
              color: {type: string, enum: [red, green]}
              ports:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items: {type: object, required: [name], properties: {name: {type: string}, port: {type: integer}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status:
            type: object
            properties:
              size: {type: integer}
              selector: {type: string}
              phase: {type: string}
              conditions: {type: array, items: {type: object, properties: {type: {type: string}, status: {type: string}}}}
`;

const widget = (spec: string): string => `apiVersion: example.com/v1
kind: Widget
metadata: {name: a, namespace: default, labels: {app: a}}
spec: {${spec}}
`;
const ports = "ports: [{name: http, port: 80}, {name: dns, port: 53}]";

const status = '{"status":{"phase":"Up","size":8,"selector":"app=a","conditions":[{"type":"Ready","status":"True"}]}}';

/**
 * A command line with its expected output and exit code, and the first minor version of kubectl
 * that has the flags; or a file to write. A `%` in an argument is a blank.
 */
type Step = readonly [command: string, output: RegExp | string, code?: number, since?: number];

/** Commands that print what another step prints in another form, or whose requests others send: only with COXSWAIN_TEST_FULL=1. */
const fullSize = [
  "get widgets.v1.example.com -o wide",
  "get wd a -o custom-columns=N:.metadata.name,P:.spec.ports[*].port",
  'get wd a -o jsonpath={.spec.ports[?(@.name=="dns")].port}',
  "get wd --field-selector spec.color=green -o name",
  "scale wd/a --replicas=4 --current-replicas=2",
  "wait wd/a --for=jsonpath={.status.phase}=Up --timeout=5s",
  "wait wd/a --for=jsonpath={.status.phase} --timeout=5s",
  "autoscale wd a --min=1 --max=5",
  "label wd a app=b",
  "annotate wd -l app=b note=y",
  "create -f strange.yaml --dry-run=server",
  "replace -f a.yaml",
  "delete wd a --cascade=foreground",
  "create -f a.yaml",
];
const isFull = process.env.COXSWAIN_TEST_FULL === "1";

const steps: readonly Step[] = [
  ["crd.yaml", definition],
  ["a.yaml", widget(`color: red, ${ports}, free: {x: {z: 1}}`)],
  ["less.yaml", widget("color: red, ports: [{name: http, port: 8080}], free: {x: {z: 1}}")],
  ["strange.yaml", widget("colr: red")],
  ["apply -f crd.yaml", "customresourcedefinition.apiextensions.k8s.io/widgets.example.com created"],
  ["wait crd/widgets.example.com --for=condition=Established --timeout=10s", /condition met$/],
  ["apply -f a.yaml", "widget.example.com/a created"],
  ["apply -f a.yaml", "widget.example.com/a unchanged"],
  ["get wd", /^NAME +SIZE +READY +AGE\na +1 +\S+$/],
  ["get widgets.v1.example.com -o wide", /^NAME +SIZE +READY +COLOR +AGE\na +1 +red +\S+$/],
  ["get tools", /^NAME +SIZE +READY +AGE\na +1 +\S+$/],
  ["get all -o name", /^service\/kubernetes\nwidget\.example\.com\/a$|^widget\.example\.com\/a\nservice\/kubernetes$/],
  ["get wd a -o custom-columns=N:.metadata.name,P:.spec.ports[*].port", /^N +P\na +80,53$/],
  ['get wd a -o jsonpath={.spec.ports[?(@.name=="dns")].port}', "53"],
  ["get wd --field-selector spec.color=green -o name", ""],
  ["get wd --field-selector spec.color=red -o name", "widget.example.com/a"],
  [
    "get wd --field-selector spec.size=1",
    /^Error from server \(BadRequest\): .*: field label not supported: spec\.size$/,
    1,
  ],
  ["api-resources --categories=tools --no-headers", /^widgets +wd +example.com\/v1 +true +Widget$/],
  ["explain wd.spec", /KIND: +Widget\n[\s\S]*The desired widget\.[\s\S]*\n {2}size\t<integer>\n {4}How many\./],
  ["scale wd/a --replicas=3", "widget.example.com/a scaled"],
  ["scale wd/a --replicas=4 --current-replicas=2", "error: Expected replicas to be 2, was 3", 1],
  // kubectl sends a strategic merge patch for built-in types only.
  [
    'patch wd a -p {"spec":{"size":7}}',
    /^error: application\/strategic-merge-patch\+json is not supported by example\.com\/v1, Kind=Widget: /,
    1,
  ],
  ['patch wd a --type=merge -p {"spec":{"size":7,"free":{"x":{"y":2}}}}', "widget.example.com/a patched"],
  [
    'patch wd a --type=json -p [{"op":"test","path":"/spec/size","value":7},{"op":"remove","path":"/spec/free/x/z"}]',
    "widget.example.com/a patched",
  ],
  [
    'patch wd a --type=merge -p {"spec":{"size":-1}}',
    /spec\.size: Invalid value: -1: spec\.size in body should be greater than or equal to 0/,
    1,
  ],
  [
    'patch wd a --type=merge -p {"spec":{"nope":1}}',
    /^widget.example.com\/a patched \(no change\)\nWarning: unknown field "spec\.nope"$/,
  ],
  [`patch wd a --subresource=status --type=merge -p ${status}`, "widget.example.com/a patched"],
  ["wait wd/a --for=condition=Ready --timeout=5s", "widget.example.com/a condition met"],
  ["wait wd/a --for=jsonpath={.status.phase}=Up --timeout=5s", "widget.example.com/a condition met"],
  ["wait wd/a --for=jsonpath={.status.phase} --timeout=5s", "widget.example.com/a condition met", 0, 31],
  ["get wd a --subresource=scale", /^NAME +DESIRED +AVAILABLE +AGE\na +7 +8 +\S+$/],
  ["autoscale wd a --min=1 --max=5", "horizontalpodautoscaler.autoscaling/a autoscaled"],
  ["label wd a app=b", "error: 'app' already has a value (a), and --overwrite is false", 1],
  ["label wd a app=b --overwrite", "widget.example.com/a labeled"],
  ["annotate wd -l app=b note=y", /^widget.example.com\/a annotated?$/],
  [
    "diff -f less.yaml",
    /\n- {4}app: b\n\+ {4}app: a\n[\s\S]*\n- {4}port: 80\n- {2}- name: dns\n- {4}port: 53\n\+ {4}port: 8080\n/,
    1,
  ],
  ["apply -f less.yaml", "widget.example.com/a configured"],
  [
    "get wd a -o jsonpath={.spec}",
    '{"color":"red","free":{"x":{"y":2,"z":1}},"ports":[{"name":"http","port":8080}],"size":7}',
  ],
  ["apply --server-side -f less.yaml", "widget.example.com/a serverside-applied"],
  [
    "apply --server-side -f a.yaml --field-manager=b",
    /^error: Apply failed with 1 conflict: conflict with "kubectl": \.spec\.ports\[name="http"\]\.port\n/,
    1,
  ],
  ["apply --server-side -f a.yaml --field-manager=b --force-conflicts", "widget.example.com/a serverside-applied"],
  ["get wd a -o jsonpath={.spec.ports}", '[{"name":"http","port":80},{"name":"dns","port":53}]'],
  ["edit wd a", "widget.example.com/a edited"],
  ["get wd a -o jsonpath={.spec.color}", "green"],
  ["apply -f strange.yaml", /strict decoding error: unknown field "spec\.colr"$/, 1],
  ["create -f strange.yaml --dry-run=server", /unknown field "spec\.colr"$/, 1],
  ["replace -f a.yaml", "widget.example.com/a replaced"],
  ["delete wd a --cascade=foreground", /^widget\.example\.com "a" deleted( from default namespace)?$/],
  ["create -f a.yaml", "widget.example.com/a created"],
  ["delete -f crd.yaml", 'customresourcedefinition.apiextensions.k8s.io "widgets.example.com" deleted'],
  ["get wd", /the server (doesn't have a resource type "wd"|could not find the requested resource)/, 1],
];

for (const kubectl of kubectls()) {
  const minor = Number(/1\.(\d+)$/.exec(kubectl)?.[1] ?? Number.POSITIVE_INFINITY);
  test(`${basename(kubectl)} reads and writes custom resources`, async (context) => {
    const server = await startTestServer();
    context.after(() => server.close());
    const directory = mkdtempSync(join(server.directory, "kubectl-"));
    const editor = join(directory, "editor");
    writeFileSync(editor, '#!/bin/sh\nsed -i "s/color: red/color: green/" "$1"\n');
    chmodSync(editor, 0o755);
    for (const [command, expected, code = 0, since = 0] of steps) {
      if (/^\S+\.yaml$/.test(command)) writeFileSync(join(directory, command), expected as string);
      if (/^\S+\.yaml$/.test(command) || minor < since || (!isFull && fullSize.includes(command))) continue;
      const args = command.split(" ").map((word) => word.replaceAll("%", " "));
      const environment = { KUBE_EDITOR: editor };
      const { output, code: ended } = await runKubectl(kubectl, args, {
        directory,
        kubeconfigPath: server.kubeconfigPath,
        environment,
      });
      if (typeof expected === "string") assert.equal(output, expected, command);
      else assert.match(output, expected, command);
      assert.equal(ended, code, `${command}: ${output}`);
    }
  });
}
