/** The published Gatekeeper, outside of a cluster. Runs with COXSWAIN_TEST_FULL=1 if Go is installed. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { created, type Reviewed } from "../../support/policy-engine.ts";
import { startServerWithClient } from "../../support/server-with-client.ts";
import {
  downloadModule,
  eventually,
  freePort,
  installCommand,
  installManifest,
  missing,
  type RunningEngine,
  startEngine,
} from "./engine.ts";

const version = "v3.23.1";
const module = "github.com/open-policy-agent/gatekeeper/v3";
const system = "gatekeeper-system";
const maps = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`;

test("Gatekeeper", { skip: missing ?? false, timeout: 1_800_000 }, async (context) => {
  let engine: RunningEngine | undefined;
  after(() => engine?.stop("SIGKILL")); // Before the server ends.
  const port = await freePort();
  const { server, client } = await startServerWithClient({
    serviceResolver: () => ({ host: "127.0.0.1", port }),
  });
  const certificates = join(server.directory, "certificates");
  mkdirSync(certificates);
  installCommand(`${module}@${version}`, server.directory);
  await installManifest(client, join(downloadModule(`${module}@${version}`), "deploy/gatekeeper.yaml"), (object) => {
    for (const webhook of object.webhooks ?? []) webhook.failurePolicy = "Fail"; // As its documentation suggests.
  });
  const start = (): void => {
    engine = startEngine(
      join(server.directory, "gatekeeper"),
      [
        `--kubeconfig=${server.kubeconfigPath}`,
        "--debug-use-fake-pod",
        "--host=127.0.0.1",
        `--port=${port}`,
        `--cert-dir=${certificates}`,
        "--operation=webhook",
        "--operation=mutation-webhook",
        "--operation=generate",
        "--exempt-namespace=gatekeeper-system",
        "--health-addr=127.0.0.1:0",
        "--prometheus-port=0",
        "--shutdown-delay=0",
        "--disable-opa-builtin={http.send}",
      ],
      { POD_NAMESPACE: system },
      join(server.directory, "gatekeeper.log"),
    );
  };
  start();

  await context.test("rotates its certificate, and writes the CA bundle", async () => {
    const path = `/api/v1/namespaces/${system}/secrets/gatekeeper-webhook-server-cert`;
    for (let secret: Reviewed; secret === undefined; ) {
      const { data } = (await eventually(client, { path }, "200")).body;
      if (data?.["tls.crt"] === undefined) continue;
      secret = data;
      for (const [name, value] of Object.entries(data)) // The kubelet mounts the secret.
        writeFileSync(join(certificates, name), Buffer.from(value as string, "base64"));
    }
    const body = { metadata: { name: "apps", labels: { "admission.gatekeeper.sh/ignore": "yes" } } };
    await eventually(
      client,
      { method: "POST", path: "/api/v1/namespaces", body },
      /^403 admission webhook "check-ignore-label.gatekeeper.sh" denied the request: Only exempt namespace can have the admission.gatekeeper.sh\/ignore label/,
    );
  });

  const template = {
    apiVersion: "templates.gatekeeper.sh/v1",
    kind: "ConstraintTemplate",
    metadata: { name: "k8srequiredlabels" },
    spec: {
      crd: {
        spec: {
          names: { kind: "K8sRequiredLabels" },
          validation: {
            openAPIV3Schema: { type: "object", properties: { labels: { type: "array", items: { type: "string" } } } },
          },
        },
      },
      targets: [
        {
          target: "admission.k8s.gatekeeper.sh",
          rego: `package k8srequiredlabels
violation[{"msg": msg}] {
  provided := {label | input.review.object.metadata.labels[label]}
  required := {label | label := input.parameters.labels[_]}
  missing := required - provided
  count(missing) > 0
  msg := sprintf("you must provide labels: %v", [missing])
}`,
        },
      ],
    },
  };
  const templates = "/apis/templates.gatekeeper.sh/v1/constrainttemplates";
  const denied =
    '403 admission webhook "validation.gatekeeper.sh" denied the request: [owner-required] you must provide labels: {"owner"}';
  const createMap = (namespace: string, name: string, labels: object = {}) => ({
    method: "POST",
    path: maps(namespace),
    body: { metadata: { name, labels } },
  });

  await context.test("denies what breaks a constraint", async () => {
    await eventually(
      client,
      { method: "POST", path: templates, body: { ...template, metadata: { name: "other" } } },
      /^4\d\d admission webhook "validation.gatekeeper.sh" denied the request: /,
    );
    await created(client, templates, template);
    const constraint = {
      apiVersion: "constraints.gatekeeper.sh/v1beta1",
      kind: "K8sRequiredLabels",
      metadata: { name: "owner-required" },
      spec: { match: { kinds: [{ apiGroups: [""], kinds: ["ConfigMap"] }] }, parameters: { labels: ["owner"] } },
    };
    const path = "/apis/constraints.gatekeeper.sh/v1beta1/k8srequiredlabels";
    await eventually(client, { method: "POST", path, body: constraint }, "201");
    await eventually(client, { ...createMap("default", "a"), path: `${maps("default")}?dryRun=All` }, denied);
    await eventually(client, createMap("default", "a", { owner: "o" }), "201");
    await eventually(client, createMap(system, "a"), "201");
  });

  await context.test("mutates objects", async () => {
    await created(client, "/apis/mutations.gatekeeper.sh/v1/assignmetadata", {
      apiVersion: "mutations.gatekeeper.sh/v1",
      kind: "AssignMetadata",
      metadata: { name: "owner" },
      spec: { location: "metadata.labels.owner", parameters: { assign: { value: "somebody" } } },
    });
    await eventually(client, createMap("default", "b"), "201");
  });

  await context.test("rejects writes during its outage, except in its namespace", async () => {
    await engine?.stop("SIGKILL");
    await eventually(client, createMap("default", "c"), /^500 .*"mutation.gatekeeper.sh": .* connection refused$/);
    await eventually(client, createMap(system, "c"), "201");
    start();
    await eventually(client, createMap("default", "c"), "201");
  });
});
