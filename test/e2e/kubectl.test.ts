/**
 * kubectl against a real server: each row is a command line and its expected output. Runs the
 * newest kubectl, and some rows with the oldest; with COXSWAIN_TEST_FULL=1 all rows with every `kubectl.1.NN`.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type KubectlRun, kubectls, oldestKubectl, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { podControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const oldest = oldestKubectl();
const versions = [...kubectls(), ...(oldest === undefined ? [] : [oldest])];

const manifests: Record<string, string> = {
  "several.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: multi, namespace: default}
data: {a: "1"}
---
apiVersion: v1
kind: Service
metadata: {name: multi, namespace: default}
spec: {selector: {app: multi}, ports: [{name: http, port: 80, targetPort: 8080}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: multi, namespace: default}
spec:
  selector: {matchLabels: {app: multi}}
  template:
    metadata: {labels: {app: multi}}
    spec: {containers: [{name: main, image: "example.com/multi:1", ports: [{containerPort: 8080}]}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: multi, namespace: default}
spec: {rules: [{host: multi.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: multi, port: {name: http}}}}]}}]}
`,
  "pod.yaml": `
apiVersion: v1
kind: Pod
metadata: {name: single, namespace: default, labels: {app: single}}
spec: {containers: [{name: main, image: "example.com/single:1", resources: {requests: {cpu: 1000m}}}]}
`,
  "replace.yaml": `
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {replaced: "yes"}
`,
};

interface RowOptions {
  readonly fails?: true;
  /** `full`: only with COXSWAIN_TEST_FULL=1. `oldest`: without it also with the oldest kubectl, which runs no other rows. */
  readonly size?: "full" | "oldest";
}

type Row = [command: string, output: RegExp, options?: RowOptions];

const rows: Row[] = [
  ["create namespace work", /^namespace\/work created$/m, { size: "oldest" }],
  ["get namespaces", /^NAME +STATUS +AGE\n(.*\n)*work +Active +\d+s$/m, { size: "full" }],
  ["get ns work -o yaml", /phase: Active/, { size: "full" }],
  ["describe namespace work", /No resource quota/, { size: "full" }],
  ["label ns work team=a", /namespace\/work labeled/, { size: "full" }],
  [
    "create configmap settings --from-literal=a=1 --from-literal=b=2",
    /configmap\/settings created/,
    { size: "oldest" },
  ],
  ["get configmap settings", /^NAME +DATA +AGE\nsettings +2 +\d+s$/m, { size: "oldest" }],
  ["get configmap settings -o jsonpath={.data.a}", /^1$/, { size: "full" }],
  ["get cm settings -o go-template={{.metadata.name}}", /^settings$/, { size: "full" }],
  ["get cm settings -o name", /^configmap\/settings$/m, { size: "full" }],
  ["get cm settings -o wide", /^settings +2 /m, { size: "full" }],
  ["get cm settings -o custom-columns=N:.metadata.name", /^N\nsettings$/m, { size: "full" }],
  ["get cm -l app=none", /No resources found/, { size: "full" }],
  ["get cm --field-selector metadata.name=settings -o name", /^configmap\/settings$/m, { size: "full" }],
  ["describe configmap settings", /Data\n====/],
  ["annotate configmap settings note=hello", /configmap\/settings annotated?/],
  ["label configmap settings app=x", /configmap\/settings labeled/, { size: "full" }],
  ["label configmap settings app-", /configmap\/settings unlabeled/, { size: "full" }],
  ['patch configmap settings --type=merge -p {"data":{"c":"3"}}', /configmap\/settings patched/, { size: "full" }],
  [
    'patch configmap settings --type=json -p [{"op":"remove","path":"/data/c"}]',
    /configmap\/settings patched/,
    { size: "full" },
  ],
  ['patch configmap settings -p {"data":{"d":"4"}}', /configmap\/settings patched/, { size: "oldest" }],
  ['patch configmap settings -p {"data":{"d":"4"}}', /patched \(no change\)/, { size: "oldest" }],
  ["replace -f replace.yaml", /configmap\/settings replaced/],
  ["get cm settings -o jsonpath={.data}", /^\{"replaced":"yes"\}$/],
  ["create configmap settings", /configmaps "settings" already exists/, { fails: true }],
  ["get cm missing", /Error from server \(NotFound\): configmaps "missing" not found/, { fails: true, size: "oldest" }],
  ["create secret generic token --from-literal=p=w", /secret\/token created/],
  ["get secret token", /^NAME +TYPE +DATA +AGE\ntoken +Opaque +1 /m, { size: "full" }],
  ["describe secret token", /p: +1 bytes/, { size: "full" }],
  [
    "create secret tls cert --cert=missing.crt --key=missing.key",
    /no such file|failed to/,
    { fails: true, size: "full" },
  ],
  [
    "create secret docker-registry reg --docker-server=r --docker-username=u --docker-password=p",
    /secret\/reg created/,
    { size: "full" },
  ],
  [
    "create deployment web --image=example.com/web:1 --replicas=2 --port=80",
    /deployment.apps\/web created/,
    { size: "oldest" },
  ],
  ["get deployment web", /^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/2 +0 +0 +\d+s$/m],
  [
    "get deploy web -o wide",
    /CONTAINERS +IMAGES +SELECTOR\nweb +0\/2 +0 +0 +\d+s +web +example.com\/web:1 +app=web/,
    { size: "full" },
  ],
  ["describe deployment web", /StrategyType: +RollingUpdate/],
  ["scale deployment web --replicas=5", /deployment.apps\/web scaled/, { size: "oldest" }],
  ["get deploy web -o jsonpath={.spec.replicas}", /^5$/, { size: "full" }],
  ["set image deployment/web web=example.com/web:2", /deployment.apps\/web image updated/],
  ["set env deployment/web A=b", /deployment.apps\/web env updated/, { size: "full" }],
  [
    "set resources deployment/web --limits=cpu=200m",
    /deployment.apps\/web resource requirements updated/,
    { size: "full" },
  ],
  ["rollout history deployment/web", /REVISION +CHANGE-CAUSE|No rollout history found/, { size: "full" }],
  ["rollout restart deployment/web", /deployment.apps\/web restarted/],
  ["rollout pause deployment/web", /deployment.apps\/web paused/, { size: "full" }],
  ["rollout resume deployment/web", /deployment.apps\/web resumed/, { size: "full" }],
  ["expose deployment web --port=80 --target-port=8080", /service\/web exposed/],
  [
    "get service web",
    /^NAME +TYPE +CLUSTER-IP +EXTERNAL-IP +PORT\(S\) +AGE\nweb +ClusterIP +10\.\d+\.\d+\.\d+ +<none> +80\/TCP +\d+s$/m,
  ],
  ["describe service web", /TargetPort: +8080\/TCP/],
  ["autoscale deployment web --max=3", /horizontalpodautoscaler.autoscaling\/web autoscaled/],
  ["get hpa web -o jsonpath={.spec.maxReplicas}", /^3$/, { size: "full" }],
  ["get horizontalpodautoscalers.v1.autoscaling web -o jsonpath={.apiVersion}", /^autoscaling\/v1$/],
  ["create service clusterip plain --tcp=80:8080", /service\/plain created/, { size: "full" }],
  ["create service nodeport outside --tcp=80", /service\/outside created/],
  ["get svc outside", /outside +NodePort +10\.\S+ +<none> +80:3\d{4}\/TCP/],
  ["create service externalname ext --external-name=example.com", /service\/ext created/, { size: "full" }],
  ["create service loadbalancer lb --tcp=80", /service\/lb created/, { size: "full" }],
  ["create job once --image=example.com/job:1 -- echo hi", /job.batch\/once created/],
  ["get job once", /^once /m, { size: "full" }],
  ["describe job once", /Parallelism: +1/, { size: "full" }],
  ["create cronjob often --image=example.com/job:1 --schedule=*/5_*_*_*_*", /cronjob.batch\/often created/],
  ["create job from-cron --from=cronjob/often", /job.batch\/from-cron created/, { size: "full" }],
  ["create ingress front --rule=example.com/*=web:80", /ingress.networking.k8s.io\/front created/],
  ["get ingress front", /^NAME +CLASS +HOSTS +ADDRESS +PORTS +AGE\nfront +<none> +example.com +80 /m, { size: "full" }],
  ["describe ingress front", /example.com/],
  ["create serviceaccount robot", /serviceaccount\/robot created/, { size: "full" }],
  ["create role reader --verb=get --resource=pods", /role.rbac.authorization.k8s.io\/reader created/, { size: "full" }],
  [
    "create rolebinding readers --role=reader --user=me",
    /rolebinding.rbac.authorization.k8s.io\/readers created/,
    { size: "full" },
  ],
  [
    "create clusterrole allreader --verb=get --resource=pods",
    /clusterrole.rbac.authorization.k8s.io\/allreader created/,
    { size: "full" },
  ],
  [
    "create clusterrolebinding allreaders --clusterrole=allreader --user=me",
    /clusterrolebinding.rbac.authorization.k8s.io\/allreaders created/,
    { size: "full" },
  ],
  ["create quota limits --hard=pods=3", /resourcequota\/limits created/],
  [
    "create pdb guard --selector=app=web --min-available=1",
    /poddisruptionbudget.policy\/guard created/,
    { size: "full" },
  ],
  ["create priorityclass high --value=1000", /priorityclass.scheduling.k8s.io\/high created/, { size: "full" }],
  ["run solo --image=example.com/solo:1", /pod\/solo created/],
  ["get pod solo", /^NAME +READY +STATUS +RESTARTS +AGE\nsolo +0\/1 +Pending +0 +\d+s$/m],
  ["get pods -o wide", /NODE +NOMINATED NODE +READINESS GATES/, { size: "full" }],
  ["describe pod solo", /QoS Class: +BestEffort/],
  ["apply -f pod.yaml", /pod\/single created/],
  ["get pod single -o jsonpath={.spec.containers[0].resources.requests.cpu}", /^1$/, { size: "full" }],
  ["wait --for=jsonpath={.status.phase}=Pending pod/single --timeout=10s", /pod\/single condition met/],
  ["delete pod single --now", /pod "single" deleted/],
  ["wait --for=delete pod/single --timeout=10s", /^$/, { size: "full" }],
  [
    "apply -f several.yaml",
    /configmap\/multi created\nservice\/multi created\ndeployment.apps\/multi created\ningress.networking.k8s.io\/multi created/,
    { size: "oldest" },
  ],
  [
    "apply -f several.yaml",
    /configmap\/multi unchanged\nservice\/multi unchanged\ndeployment.apps\/multi unchanged\ningress.networking.k8s.io\/multi unchanged/,
  ],
  ["diff -f several.yaml", /^$/, { size: "full" }],
  ["get -f several.yaml -o name", /configmap\/multi\nservice\/multi\ndeployment.apps\/multi/, { size: "full" }],
  ["get all -A", /deployment.apps\/web/],
  ["get nodes", /No resources found/, { size: "full" }],
  ["get events -A", /No resources found|LAST SEEN/, { size: "full" }],
  ["api-resources", /^deployments +deploy +apps\/v1 +true +Deployment$/m, { size: "oldest" }],
  ["api-resources --namespaced=false -o name", /^namespaces$/m, { size: "full" }],
  ["api-versions", /^apps\/v1$/m, { size: "full" }],
  [
    "explain deployment.spec.strategy --recursive",
    /rollingUpdate\s+<(RollingUpdateDeployment|Object)>[\s\S]*maxSurge/,
    { size: "full" },
  ],
  ["explain pods", /Pod is a collection of containers/, { size: "full" }],
  ["get --raw /version", /"gitVersion":\s*"v1\.36\./, { size: "full" }],
  ["get --raw /readyz?verbose", /\[\+\]ping ok/, { size: "full" }],
  ["version", /Server Version: .*v1\.36\./, { size: "oldest" }],
  ["cluster-info", /is running at/],
  ["apply -f several.yaml --dry-run=server", /configmap\/multi unchanged \(server dry run\)/, { size: "full" }],
  ["create configmap ghost --dry-run=server -o name", /^configmap\/ghost$/m, { size: "full" }],
  ["get cm ghost", /NotFound/, { fails: true, size: "full" }],
  ["delete -f several.yaml", /ingress.networking.k8s.io "multi" deleted/, { size: "oldest" }],
  ["delete deployment,service web", /deployment.apps "web" deleted/],
  ["delete namespace work", /namespace "work" deleted/],
  ["get namespace work", /NotFound/, { fails: true, size: "full" }],
];

if (versions.length === 0) {
  test("kubectl", { skip: skipWithout("kubectl") }, () => {});
}

for (const kubectl of versions) {
  describe(kubectl.slice(kubectl.lastIndexOf("/") + 1), () => {
    let server: TestServer;
    let directory: string;
    before(async () => {
      server = await startTestServer({ controllers: podControllers });
      directory = mkdtempSync(join(server.directory, "kubectl-"));
      for (const [name, text] of Object.entries(manifests)) writeFileSync(join(directory, name), text);
    });

    after(() => server.close());

    /** Blanks separate the arguments; an underscore in --schedule is a blank. */
    const run = (command: string, extra: Record<string, string> = {}): Promise<KubectlRun> => {
      const args = command
        .split(" ")
        .map((part) => (part.startsWith("--schedule=") ? part.replaceAll("_", " ") : part));
      return runKubectl(kubectl, args, { directory, kubeconfigPath: server.kubeconfigPath, environment: extra });
    };

    const chosen = rows.filter(
      ([, , { size } = {}]) => isFull || (kubectl === oldest ? size === "oldest" : size !== "full"),
    );
    for (const [command, pattern, { fails } = {}] of chosen) {
      test(command, async () => {
        const { code, output } = await run(command);
        assert.match(output, pattern);
        assert.equal(code, fails ? 1 : 0, output);
      });
    }

    test("auth whoami prints the user and its groups", async () => {
      const { output } = await run("auth whoami");
      // kubectl 1.27 requests only alpha and beta versions.
      const want = kubectl.endsWith(".1.27")
        ? /the selfsubjectreviews API is not enabled in the cluster/
        : /Username +kubernetes-admin\nGroups +\[system:masters system:authenticated\]/;
      assert.match(output, want);
    });

    if (kubectl === oldest) return;

    test("edit writes what the editor changed", async () => {
      await run("create configmap edited --from-literal=a=before");
      const { output } = await run("edit configmap edited", { EDITOR: "sed -i s/before/after/" });
      assert.match(output, /configmap\/edited edited/);
      assert.equal((await run("get configmap edited -o jsonpath={.data.a}")).output, "after");
    });

    test("get -w prints changes as they happen", async () => {
      const watching = spawn(kubectl, ["get", "configmaps", "-w", "--output-watch-events"], {
        cwd: directory,
        env: { PATH: process.env.PATH, HOME: directory, KUBECONFIG: server.kubeconfigPath },
      });
      const lines: string[] = [];
      const sawDeletion = new Promise<void>((resolve) => {
        watching.stdout.on("data", (piece: Buffer) => {
          lines.push(piece.toString());
          if (/DELETED +moving/.test(lines.join(""))) resolve();
        });
      });
      await new Promise<void>((resolve) => watching.stdout.once("data", () => resolve()));
      await run("create configmap moving --from-literal=a=1");
      await run("label configmap moving x=y");
      await run("delete configmap moving");
      await sawDeletion;
      watching.kill();
      const text = lines.join("");
      assert.match(text, /EVENT +NAME +DATA +AGE/);
      assert.match(text, /ADDED +moving +1 [\s\S]*MODIFIED +moving +1 [\s\S]*DELETED +moving +1 /);
    });
  });
}
