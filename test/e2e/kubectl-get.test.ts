/**
 * `kubectl get` with every output format, with selectors, sorting and label columns, and with
 * `--raw`. Runs the newest kubectl with a part of the rows; with COXSWAIN_TEST_FULL=1 all with every version.
 */
import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const versions = kubectls();

const files: Record<string, string> = {
  "objects.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: b, labels: {app: web, tier: front}}
data: {size: "10"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: a, labels: {app: api}}
data: {size: "2"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: c, namespace: kube-system, labels: {app: web}}
data: {size: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
spec: {clusterIP: 10.0.0.77, selector: {app: web}, ports: [{name: http, port: 80, targetPort: 8080}, {name: https, port: 443}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: "example.com/web:1"}, {name: side, image: "example.com/side:1"}]}
`,
  "columns.txt": "NAME SIZE\n.metadata.name .data.size\n",
  "go.txt": "{{.metadata.name}}!",
  "path.txt": "{.data.size}",
};

const age = String.raw`\d+s`;
/** @returns the pattern for the text; `AGE?` matches an age, and a blank one or more blanks */
function patternOf(text: string): RegExp {
  const escaped = text.trim().replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return new RegExp(`^${escaped.replaceAll("AGE\\?", age).replaceAll(" ", " +")}$`);
}

type Row = [command: string, output: string | RegExp, outcome?: "fails"];

/** Rows that print another row's answer in another form, or that a raw client sends: only with COXSWAIN_TEST_FULL=1. */
const fullSize = [
  "get cm --no-headers",
  "get cm -L app,tier",
  "get cm --all-namespaces -l app=web -o wide",
  "get cm -n kube-system -l app",
  "get cm -l 'tier,app notin (api)'",
  "get cm -l app=none",
  "get cm --sort-by=.metadata.name",
  "get deploy web --server-print=false",
  "get deploy/web svc/web -o name",
  "get svc web -o wide --show-kind",
  "get configmaps.v1. a",
  "get deploy web --subresource=status",
  "get cm -o custom-columns=NAME:.metadata.name,SIZE:.data.size,TIER:.metadata.labels.tier",
  "get cm -o custom-columns-file=columns.txt",
  "get deploy -o custom-columns=I:.spec.template.spec.containers[*].image",
  "get cm a -o jsonpath-file=path.txt",
  "get cm -o jsonpath-as-json={.items[*].data.size}",
  "get cm -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'",
  "get cm a -o go-template-file=go.txt",
  "get cm a -o template --template={{.data.size}}",
  "get cm -o json",
  "get cm missing --ignore-not-found",
  "get cm -o nothing",
  "get cm -l a=(",
  "get --raw /apis/apps/v1",
  "get --raw /openapi/v3",
  "get --raw /openapi/v3/apis/apps/v1",
  "get --raw /openapi/v2",
  "get --raw /healthz",
  "get --raw /metrics",
];

/**
 * Blanks separate the arguments; quotes enclose one with blanks. The test removes blanks at the
 * ends of lines.
 */
const rows: Row[] = [
  ["get cm", "NAME DATA AGE\na 1 AGE?\nb 1 AGE?"],
  ["get cm --no-headers", "a 1 AGE?\nb 1 AGE?"],
  ["get cm --show-labels", "NAME DATA AGE LABELS\na 1 AGE? app=api\nb 1 AGE? app=web,tier=front"],
  ["get cm -L app,tier", "NAME DATA AGE APP TIER\na 1 AGE? api\nb 1 AGE? web front"],
  ["get cm -A -l app", "NAMESPACE NAME DATA AGE\ndefault a 1 AGE?\ndefault b 1 AGE?\nkube-system c 1 AGE?"],
  ["get cm --all-namespaces -l app=web -o wide", "NAMESPACE NAME DATA AGE\ndefault b 1 AGE?\nkube-system c 1 AGE?"],
  ["get cm -n kube-system -l app", "NAME DATA AGE\nc 1 AGE?"],
  ["get cm -l 'app in (web,api),tier!=front'", "NAME DATA AGE\na 1 AGE?"],
  ["get cm -l 'tier,app notin (api)'", "NAME DATA AGE\nb 1 AGE?"],
  ["get cm --field-selector metadata.name!=a", "NAME DATA AGE\nb 1 AGE?"],
  ["get cm -l app=none", "No resources found in default namespace."],
  ["get cm --sort-by=.metadata.name", "NAME DATA AGE\na 1 AGE?\nb 1 AGE?"],
  [
    "get cm --sort-by={.data.size} -A -l app",
    "NAMESPACE NAME DATA AGE\nkube-system c 1 AGE?\ndefault a 1 AGE?\ndefault b 1 AGE?",
  ],
  ["get cm --chunk-size=1", "NAME DATA AGE\na 1 AGE?\nb 1 AGE?"],
  ["get cm --server-print=false", "NAME AGE\na AGE?\nb AGE?"],
  ["get deploy web --server-print=false", "NAME AGE\nweb AGE?"],
  [
    "get cm,svc -l app=web",
    "NAME DATA AGE\nconfigmap/b 1 AGE?\n\nNAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE\nservice/web ClusterIP 10.0.0.77 <none> 80/TCP,443/TCP AGE?",
  ],
  ["get deploy/web svc/web -o name", "deployment.apps/web\nservice/web"],
  ["get -f objects.yaml -o name", "configmap/b\nconfigmap/a\nconfigmap/c\nservice/web\ndeployment.apps/web"],
  ["get all -l app=web -o name", "service/web\ndeployment.apps/web"],
  [
    "get svc web -o wide --show-kind",
    "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE SELECTOR\nservice/web ClusterIP 10.0.0.77 <none> 80/TCP,443/TCP AGE? app=web",
  ],
  [
    "get deploy -o wide",
    "NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR\nweb 0/2 0 0 AGE? main,side example.com/web:1,example.com/side:1 app=web",
  ],
  ["get deployments.v1.apps web", "NAME READY UP-TO-DATE AVAILABLE AGE\nweb 0/2 0 0 AGE?"],
  ["get configmaps.v1. a", "NAME DATA AGE\na 1 AGE?"],
  ["get deploy web --subresource=status", "NAME READY UP-TO-DATE AVAILABLE AGE\nweb 0/2 0 0 AGE?"],
  ["get deploy web --subresource=scale", "NAME DESIRED AVAILABLE AGE\nweb 2 0 AGE?"],
  [
    "get cm -o custom-columns=NAME:.metadata.name,SIZE:.data.size,TIER:.metadata.labels.tier",
    "NAME SIZE TIER\na 2 <none>\nb 10 front",
  ],
  ["get cm -o custom-columns-file=columns.txt", "NAME SIZE\na 2\nb 10"],
  ["get deploy -o custom-columns=I:.spec.template.spec.containers[*].image", "I\nexample.com/web:1,example.com/side:1"],
  [`get cm -o 'jsonpath={range .items[*]}{.metadata.name}={.data.size}{"\\n"}{end}'`, "a=2\nb=10"],
  ["get cm a -o jsonpath-file=path.txt", "2"],
  ["get cm -o jsonpath-as-json={.items[*].data.size}", '[\n "2",\n "10"\n]'],
  ["get cm -o 'go-template={{range .items}}{{.metadata.name}} {{end}}'", "a b"],
  ["get cm a -o go-template-file=go.txt", "a!"],
  ["get cm a -o template --template={{.data.size}}", "2"],
  [
    "get cm a -o yaml",
    /^apiVersion: v1\ndata:\n {2}size: "2"\nkind: ConfigMap\nmetadata:\n(?: .*\n)+ {2}uid: [-0-9a-f]{36}$/,
  ],
  [
    "get cm a -o yaml --show-managed-fields",
    /\n {2}managedFields:\n {2}- apiVersion: v1\n {4}fieldsType: FieldsV1\n[\s\S]*manager: kubectl-client-side-apply/,
  ],
  [
    "get cm a -o json",
    /^\{\n {4}"apiVersion": "v1",\n {4}"data": \{\n {8}"size": "2"\n[\s\S]*"uid": "[-0-9a-f]{36}"\n {4}\}\n\}$/,
  ],
  [
    "get cm -o json",
    /^\{\n {4}"apiVersion": "v1",\n {4}"items": \[\n[\s\S]*"kind": "List",\n {4}"metadata": \{\n {8}"resourceVersion": ""\n {4}\}\n\}$/,
  ],
  [
    "get cm a missing",
    /^NAME +DATA +AGE\na +1 +\d+s\nError from server \(NotFound\): configmaps "missing" not found$/,
    "fails",
  ],
  ["get cm missing --ignore-not-found", ""],
  ["get nothing", 'error: the server doesn\'t have a resource type "nothing"', "fails"],
  ["get cm -o nothing", /unable to match a printer/, "fails"],
  ["get cm -l a=(", /unable to parse requirement/, "fails"],
  [
    "get cm --field-selector data.size=2",
    /field label not supported: data\.size|"data\.size" is not a known field selector/,
    "fails",
  ],
  [
    "get --raw /api/v1/namespaces/default/configmaps/a",
    /^\{"kind":"ConfigMap","apiVersion":"v1","metadata":\{"name":"a",/,
  ],
  [
    "get --raw /api/v1/namespaces/default/configmaps?limit=1",
    /^\{"kind":"ConfigMapList","apiVersion":"v1","metadata":\{"resourceVersion":"\d+","continue":"[^"]+","remainingItemCount":1\}/,
  ],
  [
    "get --raw /api/v1/namespaces/default/configmaps/a?pretty=true",
    /^\{\n {2}"kind": "ConfigMap",\n {2}"apiVersion": "v1",\n/,
  ],
  ["get --raw /apis/apps/v1", /^\{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"apps\/v1",/],
  [
    "get --raw /openapi/v3",
    /^\{"paths":\{"\.well-known\/openid-configuration":\{.*"api":\{"serverRelativeURL":"\/openapi\/v3\/api\?hash=[0-9A-F]{128}"\},/,
  ],
  ["get --raw /openapi/v3/apis/apps/v1", /^\{"openapi":"3\.0\.0","info":\{"title":"Kubernetes",/],
  ["get --raw /openapi/v2", /^\{"swagger":"2\.0","info":\{"title":"Kubernetes",/],
  ["get --raw /healthz", "ok"],
  ["get --raw /metrics", /^# (?:HELP|TYPE) /m],
  ["get --raw /nothing", "Error from server (NotFound): the server could not find the requested resource", "fails"],
];

if (versions.length === 0) {
  test("kubectl get", { skip: skipWithout("kubectl") }, () => {});
}

for (const kubectl of versions) {
  describe(`${kubectl.slice(kubectl.lastIndexOf("/") + 1)} get`, () => {
    let server: TestServer;
    let directory: string;
    const run = (command: string) => {
      const args = [...command.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
      return runKubectl(kubectl, args, { directory, kubeconfigPath: server.kubeconfigPath });
    };
    before(async () => {
      server = await startTestServer();
      directory = mkdtempSync(join(server.directory, "kubectl-"));
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
      const { code, output } = await run("apply -f objects.yaml");
      assert.equal(code, 0, output);
    });
    after(() => server.close());

    for (const [command, expected, outcome] of rows.filter(([command]) => isFull || !fullSize.includes(command))) {
      test(command, async () => {
        const { code, output } = await run(command);
        assert.match(output.replace(/ +$/gm, ""), typeof expected === "string" ? patternOf(expected) : expected);
        assert.equal(code, outcome === "fails" ? 1 : 0, output);
      });
    }
  });
}
