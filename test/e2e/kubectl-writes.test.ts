/**
 * kubectl writes: client-side apply, prune, edit, three patch types, replace, dry runs, validation,
 * diff. With COXSWAIN_TEST_FULL=1 all sessions run, with every version.
 */
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, afterEach, before, describe, test } from "node:test";
import { emptyDefaultNamespace } from "../support/empty-namespace.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

/**
 * A command line with its expected output and exit code, or a file to write. A `%` in an argument
 * is a blank.
 */
type Step =
  | readonly [command: string, output: RegExp | string, code?: number]
  | readonly [file: `${string}.yaml` | `${string}.json`, text: string];

const lastApplied = "-o jsonpath={.metadata.annotations.kubectl\\.kubernetes\\.io/last-applied-configuration}";

const map = (name: string, data: string, labels = ""): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default${labels}}\ndata: {${data}}\n`;

const web = (containers: string): string => `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
${containers.replace(/^/gm, "      ")}
`;

/** Without COXSWAIN_TEST_FULL=1, other tests cover the server's part of the sessions that are not listed. */
const always = ["apply merges lists by their keys", "patch sends three patch types"];

const sessions: Readonly<Record<string, readonly Step[]>> = {
  "apply records the last applied configuration exactly": [
    ["map.yaml", map("settings", 'a: "1", b: "2"')],
    ["apply -f map.yaml", "configmap/settings created"],
    [
      `get cm settings ${lastApplied}`,
      '{"apiVersion":"v1","data":{"a":"1","b":"2"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"settings","namespace":"default"}}',
    ],
    ["apply -f map.yaml", "configmap/settings unchanged"],
    ["map.yaml", map("settings", 'a: "1", c: "<&>"')],
    ['patch cm settings --type=merge -p {"data":{"theirs":"x"}}', "configmap/settings patched"],
    ["apply -f map.yaml", "configmap/settings configured"],
    ["get cm settings -o jsonpath={.data}", '{"a":"1","c":"\\u003c\\u0026\\u003e","theirs":"x"}'],
    [
      `get cm settings ${lastApplied}`,
      '{"apiVersion":"v1","data":{"a":"1","c":"\\u003c\\u0026\\u003e"},"kind":"ConfigMap","metadata":{"annotations":{},"name":"settings","namespace":"default"}}',
    ],
    ["apply view-last-applied configmap/settings", /c: <&>/],
    ["create cm bare --from-literal=a=1", "configmap/bare created"],
    ["bare.yaml", map("bare", 'a: "2"')],
    [
      "apply -f bare.yaml",
      /Warning: resource configmaps\/bare is missing the kubectl\.kubernetes\.io\/last-applied-configuration annotation/,
    ],
    ["get cm bare -o jsonpath={.data.a}", "2"],
    ["apply set-last-applied -f bare.yaml", /configmap\/bare/],
    ["apply -f bare.yaml", /^configmap\/bare (configured|unchanged)$/],
    ["apply -f bare.yaml", "configmap/bare unchanged"],
  ],
  "apply merges lists by their keys": [
    [
      "web.yaml",
      web(
        "- {name: main, image: 'x:1', env: [{name: A, value: '1'}, {name: B, value: '2'}]}\n- {name: side, image: 's:1'}",
      ),
    ],
    ["apply -f web.yaml", "deployment.apps/web created"],
    ["set env deployment/web -c main THEIRS=x", "deployment.apps/web env updated"],
    ["scale deployment web --replicas=4", "deployment.apps/web scaled"],
    ["web.yaml", web("- {name: main, image: 'x:2', env: [{name: B, value: '3'}, {name: C, value: '4'}]}")],
    ["apply -f web.yaml", "deployment.apps/web configured"],
    ["get deployment web -o jsonpath={.spec.template.spec.containers[*].name}", "main"],
    ["get deployment web -o jsonpath={.spec.template.spec.containers[0].image}", "x:2"],
    [
      "get deployment web -o jsonpath={range%.spec.template.spec.containers[0].env[*]}{.name}={.value};{end}",
      "B=3;THEIRS=x;C=4;",
    ],
    ["get deployment web -o jsonpath={.spec.replicas}", "4"],
  ],
  "apply --prune deletes objects that are no longer applied": [
    ["set/one.yaml", map("one", "a: b", ", labels: {part: of}")],
    ["set/two.yaml", map("two", "a: b", ", labels: {part: of}")],
    ["create secret generic kept --from-literal=a=b", "secret/kept created"],
    ["label secret kept part=of", "secret/kept labeled"],
    ["create cm other --from-literal=a=b", "configmap/other created"],
    ["label cm other part=of", "configmap/other labeled"],
    [
      "apply -f set --prune -l part=of --prune-allowlist=core/v1/ConfigMap",
      /configmap\/one created\nconfigmap\/two created/,
    ],
    ["set/two.yaml", map("one", "a: b", ", labels: {part: of}")],
    [
      "apply -f set --prune -l part=of --prune-allowlist=core/v1/ConfigMap",
      /configmap\/one unchanged\n(.*\n)*configmap\/two pruned/,
    ],
    ["get cm -l part=of -o name", "configmap/one\nconfigmap/other"],
    ["get secret kept -o name", "secret/kept"],
  ],
  "edit sends a patch of what the editor changed": [
    ["map.yaml", map("edited", "a: before")],
    ["create -f map.yaml", "configmap/edited created"],
    ["EDITOR=sed%-i%s/before/after/ edit cm edited", "configmap/edited edited"],
    ["get cm edited -o jsonpath={.data.a}", "after"],
    ["EDITOR=true edit cm edited", "Edit cancelled, no changes made."],
    [
      "EDITOR=sed%-i%s/after/5/ edit cm edited",
      /cannot be handled as a ConfigMap|json: cannot unmarshal number into Go struct field ConfigMap\.data of type string|is invalid/,
      1,
    ],
    [
      "EDITOR=sed%-i%s/after/last/ edit cm edited --output-patch",
      'Patch: {"data":{"a":"last"}}\nconfigmap/edited edited',
    ],
    ["get cm edited -o jsonpath={.data.a}", "last"],
  ],
  "patch sends three patch types": [
    ["web.yaml", web("- {name: main, image: 'x:1', ports: [{containerPort: 80}]}")],
    ["apply -f web.yaml", "deployment.apps/web created"],
    [
      'patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"side","image":"s:1"}]}}}}',
      "deployment.apps/web patched",
    ],
    ["get deployment web -o jsonpath={.spec.template.spec.containers[*].name}", "side main"],
    [
      'patch deployment web -p {"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"main"},{"name":"side"}],"containers":[{"name":"side","image":"s:2"}]}}}}',
      "deployment.apps/web patched",
    ],
    ["get deployment web -o jsonpath={.spec.template.spec.containers[*].image}", "x:1 s:2"],
    [
      'patch deployment web -p {"spec":{"template":{"spec":{"containers":[{"name":"side","$patch":"delete"}]}}}}',
      "deployment.apps/web patched",
    ],
    [
      'patch deployment web -p {"spec":{"strategy":{"$retainKeys":["type"],"type":"Recreate"}}}',
      "deployment.apps/web patched",
    ],
    ["get deployment web -o jsonpath={.spec.strategy}", '{"type":"Recreate"}'],
    [
      'patch deployment web --type=json -p [{"op":"test","path":"/spec/strategy/type","value":"Recreate"},{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]',
      "deployment.apps/web patched",
    ],
    [
      'patch deployment web --type=json -p [{"op":"test","path":"/spec/strategy/type","value":"Odd"}]',
      "The request is invalid: the server rejected our request due to an error in our request",
      1,
    ],
    [
      'patch deployment web --type=json -p [{"op":"remove","path":"/spec/none"}]',
      "The request is invalid: the server rejected our request due to an error in our request",
      1,
    ],
    ['patch deployment web --type=merge -p {"spec":{"replicas":3,"paused":null}}', "deployment.apps/web patched"],
    ['patch deployment web --type=merge -p {"spec":{"replicas":3}}', "deployment.apps/web patched (no change)"],
    [
      'patch deployment web --type=merge -p {"metadata":{"resourceVersion":"1"},"spec":{"replicas":4}}',
      /^Error from server \(Conflict\): Operation cannot be fulfilled on deployments\.apps "web": the object has been modified/,
      1,
    ],
    [
      'patch deployment web --subresource=status --type=merge -p {"status":{"replicas":2}}',
      "deployment.apps/web patched",
    ],
    [
      'patch deployment web --subresource=scale --type=merge -p {"spec":{"replicas":5}}',
      /(deployment\.apps|scale\.autoscaling)\/web patched/,
    ],
    ["get deployment web -o jsonpath={.spec.replicas}/{.status.replicas}", "5/2"],
    [
      'patch deployment web --type=merge -p {"spec":{"replicas":"many"}}',
      /^The request is invalid: patch: Invalid value: .*cannot unmarshal string into Go struct field DeploymentSpec\.spec\.replicas of type int32$/s,
      1,
    ],
  ],
  "replace updates or re-creates an object": [
    ["map.yaml", map("settings", "a: b")],
    [
      "replace -f map.yaml",
      'Error from server (NotFound): error when replacing "map.yaml": configmaps "settings" not found',
      1,
    ],
    ["create -f map.yaml", "configmap/settings created"],
    ["map.yaml", map("settings", "c: d")],
    ["replace -f map.yaml", "configmap/settings replaced"],
    ["get cm settings -o jsonpath={.data}", '{"c":"d"}'],
    ["map.yaml", map("settings", "e: f", ', resourceVersion: "1"')],
    [
      "replace -f map.yaml",
      /^Error from server \(Conflict\): error when replacing "map\.yaml": Operation cannot be fulfilled on configmaps "settings": the object has been modified/,
      1,
    ],
    ["map.yaml", map("settings", "g: h")],
    ["replace --force -f map.yaml", /configmap "settings" deleted.*\nconfigmap\/settings replaced/],
    ["get cm settings -o jsonpath={.data}", '{"g":"h"}'],
  ],
  "--dry-run=server validates and writes nothing": [
    ["map.yaml", map("dry", "a: b")],
    ["create -f map.yaml --dry-run=server", "configmap/dry created (server dry run)"],
    ["apply -f map.yaml --dry-run=server", "configmap/dry created (server dry run)"],
    ["get cm dry", /NotFound/, 1],
    ["apply -f map.yaml", "configmap/dry created"],
    ["map.yaml", map("dry", "c: d")],
    ["apply -f map.yaml --dry-run=server", "configmap/dry configured (server dry run)"],
    ["apply -f map.yaml --dry-run=server -o jsonpath={.data}", '{"c":"d"}'],
    ["replace -f map.yaml --dry-run=server", "configmap/dry replaced (server dry run)"],
    ['patch cm dry --type=merge -p {"data":{"p":"q"}} --dry-run=server', /configmap\/dry patched/],
    ["label cm dry x=y --dry-run=server", "configmap/dry labeled (server dry run)"],
    ["annotate cm dry x=y --dry-run=server", /configmap\/dry annotated? \(server dry run\)/],
    ["delete cm dry --dry-run=server", /configmap "dry" deleted.* \(server dry run\)/],
    ["create deployment dry --image=x:1 --dry-run=server -o jsonpath={.metadata.generation}", "1"],
    [
      "create service nodeport dry --tcp=80 --dry-run=server -o jsonpath={.spec.clusterIP}/{.spec.ports[0].nodePort}",
      /^10\.\d+\.\d+\.\d+\/3\d{4}$/,
    ],
    ["create namespace dry --dry-run=server", "namespace/dry created (server dry run)"],
    ["get cm,deployment,svc,ns dry --ignore-not-found -o name", "configmap/dry"],
    ["get cm dry -o jsonpath={.data}{.metadata.labels}", '{"a":"b"}'],
  ],
  "--validate rejects, warns or ignores": [
    ["odd.yaml", `${map("odd", "a: b")}foo: 1\n`],
    [
      "create -f odd.yaml --validate=strict",
      'Error from server (BadRequest): error when creating "odd.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "foo"',
      1,
    ],
    ["create -f odd.yaml", /strict decoding error: unknown field "foo"$/, 1],
    [
      "create -f odd.yaml --validate=warn --dry-run=server",
      'configmap/odd created (server dry run)\nWarning: unknown field "foo"',
    ],
    ["create -f odd.yaml --validate=ignore --dry-run=server", "configmap/odd created (server dry run)"],
    ["apply -f odd.yaml --validate=warn", 'configmap/odd created\nWarning: unknown field "foo"'],
    ["odd.yaml", `${map("odd", "a: c")}foo: 1\nbar: {x: z}\n`],
    [
      "apply -f odd.yaml --validate=strict",
      /^Error from server \(BadRequest\): error when applying patch:\n[\s\S]*for: "odd\.yaml": error when patching "odd\.yaml": "" is invalid: patch: Invalid value: "map\[.*\]": strict decoding error: unknown field "bar", unknown field "foo"$|^The request is invalid: patch: Invalid value: "map\[bar:map\[x:z\] [\s\S]*\]": strict decoding error: unknown field "bar", unknown field "foo"$/,
      1,
    ],
    [
      "apply -f odd.yaml --validate=warn",
      'configmap/odd configured\nWarning: unknown field "bar"\nWarning: unknown field "foo"',
    ],
    [
      "replace -f odd.yaml --validate=strict",
      /strict decoding error: unknown field "foo", unknown field "bar"$|strict decoding error: unknown field "bar", unknown field "foo"$/,
      1,
    ],
    ["replace -f odd.yaml --validate=ignore", "configmap/odd replaced"],
    ["wrong.yaml", map("wrong", "a: 5")],
    [
      "create -f wrong.yaml --validate=ignore",
      'Error from server (BadRequest): error when creating "wrong.yaml": ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
      1,
    ],
    ["deep.yaml", web("- {name: main, image: 'x:1', imagee: y, env: [{name: A, valu: b}]}")],
    [
      "create -f deep.yaml",
      'Error from server (BadRequest): error when creating "deep.yaml": Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.template.spec.containers[0].env[0].valu", unknown field "spec.template.spec.containers[0].imagee"',
      1,
    ],
  ],
  "diff prints the changes of an apply": [
    ["web.yaml", web("- {name: main, image: 'x:1'}")],
    ["diff -f web.yaml", /\+kind: Deployment\n/, 1],
    ["apply -f web.yaml", "deployment.apps/web created"],
    ["diff -f web.yaml", ""],
    ["web.yaml", web("- {name: main, image: 'x:2'}")],
    ["diff -f web.yaml", /- {2}generation: 1\n\+ {2}generation: 2\n[\s\S]*- {6}- image: x:1\n\+ {6}- image: x:2\n/, 1],
    ["get deployment web -o jsonpath={.spec.template.spec.containers[0].image}", "x:1"],
  ],
};

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const versions = kubectls();
if (versions.length === 0) {
  test("kubectl", { skip: skipWithout("kubectl") }, () => {});
}

for (const kubectl of versions) {
  describe(kubectl.slice(kubectl.lastIndexOf("/") + 1), () => {
    let server: TestServer;
    let admin: RawClient;
    before(async () => {
      server = await startTestServer();
      admin = rawClient(server.kubeconfig);
    });
    afterEach(() => emptyDefaultNamespace(admin));
    after(async () => {
      admin.close();
      await server.close();
    });

    for (const [what, steps] of Object.entries(sessions)) {
      test(what, { skip: !isFull && !always.includes(what) && "needs COXSWAIN_TEST_FULL=1" }, async () => {
        const directory = mkdtempSync(join(server.directory, "kubectl-"));
        mkdirSync(join(directory, "set"));
        for (const [command, expected, code = 0] of steps) {
          if (/^\S+\.(yaml|json)$/.test(command)) writeFileSync(join(directory, command), expected as string);
          else await check(command, expected, code, { directory, kubeconfigPath: server.kubeconfigPath });
        }
      });
    }

    async function check(
      command: string,
      expected: RegExp | string,
      code: number,
      at: { directory: string; kubeconfigPath: string },
    ): Promise<void> {
      const words = command.split(" ").map((word) => word.replaceAll("%", " "));
      const editor = words[0]?.startsWith("EDITOR=") ? (words.shift() as string).slice("EDITOR=".length) : "false";
      const run = await runKubectl(kubectl, words, {
        ...at,
        environment: { HOME: server.directory, EDITOR: editor, KUBE_EDITOR: editor },
      });
      if (typeof expected === "string") assert.equal(run.output, expected, command);
      else assert.match(run.output, expected, command);
      assert.equal(run.code, code, `${command}: ${run.output}`);
    }
  });
}
