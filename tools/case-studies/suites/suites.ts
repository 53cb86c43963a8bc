/** All suites. */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { copyModule } from "../build.ts";
import type { Suite } from "./contract.ts";
import { cloneTag, runIn } from "./sources.ts";

/** Packages of a suite are tested one after the other. */
const goTest = ["go", "test", "-json", "-count=1", "-p=1", "-timeout=30m"];
const goEnvironment = { GOFLAGS: "-mod=mod -buildvcs=false" };

const kustomizeController: Suite = {
  name: "kustomize-controller",
  about: "internal/controller of Flux's kustomize-controller 1.9.0, with envtest",
  server: "envtest",
  prepare: () => copyModule("github.com/fluxcd/kustomize-controller@v1.9.0"),
  command: () => [...goTest, "./internal/controller"],
  environment: goEnvironment,
  format: "go",
};

const clusterApi: Suite = {
  name: "cluster-api",
  about: "util/patch, internal/util/ssa and three reconcilers of Cluster API 1.14.2, with envtest",
  server: "envtest",
  prepare: () => copyModule("sigs.k8s.io/cluster-api@v1.14.2"),
  command: (folder) => [
    ...goTest,
    ...["util/patch", "internal/util/ssa"].map((path) => `./${path}`),
    ...["machineset", "machinedeployment", "topology/cluster"].flatMap((name) => packagesOf(folder, name)),
  ],
  environment: goEnvironment,
  format: "go",
};

/** Reconcilers are in the folder of the program since 1.14. */
function packagesOf(folder: string, reconciler: string): string[] {
  const found = globSync(`{core/reconcilers,internal/controllers}/${reconciler}`, { cwd: folder });
  return found.map((path) => `./${path}`);
}

const rejected = "the test creates an object that the API rejects and the fake stores";

const prometheusOperator: Suite = {
  name: "prometheus-operator",
  about:
    "pkg/assets and pkg/k8sutil of the Prometheus Operator 0.85.0, with the fake clientset, and with a server behind its constructor",
  server: "fakes",
  prepare: () => copyModule("github.com/prometheus-operator/prometheus-operator@v0.85.0"),
  change(folder) {
    mkdirSync(join(folder, "pkg/fake"), { recursive: true });
    cpSync(join(import.meta.dirname, "fakes.go.txt"), join(folder, "pkg/fake/fake.go"));
    for (const file of globSync(`${folder}/pkg/{assets,k8sutil}/*_test.go`)) {
      const text = readFileSync(file, "utf8");
      const ours = "github.com/prometheus-operator/prometheus-operator/pkg/fake";
      writeFileSync(file, text.replace("k8s.io/client-go/kubernetes/fake", ours));
    }
  },
  command: () => [...goTest, "./pkg/assets", "./pkg/k8sutil"],
  environment: goEnvironment,
  format: "go",
  differing: {
    "pkg/assets.TestHasRefTo": rejected,
    "pkg/k8sutil.TestCreateOrUpdateImmutableFields": rejected,
    "pkg/k8sutil.TestEnsureCustomGoverningService": rejected,
    "pkg/k8sutil.TestMergeMetadata": rejected,
    "pkg/k8sutil.TestPropagateKubectlTemplateAnnotations": rejected,
  },
};

const kopf: Suite = {
  name: "kopf",
  about: "tests/e2e of kopf 1.40.0: its example operators, with a cluster",
  server: "cluster",
  prepare: () =>
    cloneTag("https://github.com/nolar/kopf", "1.40.0", (folder) => {
      runIn(folder, "python3", "-m", "venv", ".venv");
      // Its group `test`, without a fork of oscrypto that one of the examples would need on Ubuntu 24.04.
      const tests = [
        "aresponses",
        "astpath[xpath]",
        "certbuilder",
        "certvalidator",
        "freezegun",
        "looptime>=0.7",
        "lxml",
      ];
      const plugins = ["aiohttp", "asyncio", "cov", "mock", "timeout"].map((name) => `pytest-${name}`);
      const all = ["-e", ".[dev]", "-r", "examples/requirements.txt", ...tests, "pytest>=9", ...plugins];
      runIn(folder, ".venv/bin/pip", "install", "--quiet", ...all);
    }),
  command: (_folder, report) => [
    ...[".venv/bin/python", "-m", "pytest", "--only-e2e", "tests/e2e", `--junit-xml=${report}`],
    ...["-W", "ignore::pytest.PytestUnraisableExceptionWarning"], // Sockets that are not closed yet.
  ],
  format: "junit",
};

/** Without a kubelet, pods are made Running as it would do. */
const podsRun = `while sleep 0.3; do
  for pod in $(kubectl get pods -A --field-selector=status.phase=Pending -o jsonpath='{range .items[*]}{.metadata.namespace}/{.metadata.name} {end}'); do
    kubectl patch pod -n "\${pod%/*}" "\${pod#*/}" --subresource=status --type=merge -p '{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}'
  done
done >/dev/null 2>&1 &
loop=$!`;

const fluentClient: Suite = {
  name: "kubernetes-fluent-client",
  about: "e2e of kubernetes-fluent-client 3.11.10, with Vitest and a cluster",
  server: "cluster",
  prepare: () =>
    cloneTag("https://github.com/defenseunicorns/kubernetes-fluent-client", "v3.11.10", (folder) => {
      runIn(folder, "npm", "ci", "--no-audit", "--no-fund");
      runIn(folder, "npm", "run", "build");
      runIn(folder, "npm", "pack");
      runIn(folder, "npm", "install", "--no-save", "./kubernetes-fluent-client-0.0.0-development.tgz");
    }),
  command: (_folder, report) => [
    "sh",
    "-c",
    `kubectl apply -f test/ && npx tsx src/cli.ts crd ./test/datastore.crd.yaml e2e && npx tsx src/cli.ts crd ./test/webapp.crd.yaml e2e
npx tsx src/cli.ts crd ./test/webapp.crd.yaml -l json-schema e2e/schemas/webapp
${podsRun}
npx vitest run e2e/ --reporter=junit --outputFile=${report}
code=$?; kill $loop; exit $code`,
  ],
  format: "junit",
};

export const suites: readonly Suite[] = [clusterApi, fluentClient, kopf, kustomizeController, prometheusOperator];

/** A copy of the suite that uses a server. */
export function changedCopy({ change }: Suite, folder: string): string {
  if (change === undefined) return folder;
  const copy = `${folder}+changed`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(folder, copy, { recursive: true });
  change(copy);
  return copy;
}
