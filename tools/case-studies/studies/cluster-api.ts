/** Cluster API: four managers with conversion and admission webhooks make a cluster of a ClusterClass, scale, upgrade and delete it. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAuthority, issueCertificate } from "../../../src/server/serving/x509.ts";
import { freePorts } from "../../../test/support/etcd.ts";
import type { Body, Stage, Study } from "../contract.ts";
import { isEstablished, readDocuments } from "../documents.ts";

const core = "sigs.k8s.io/cluster-api";
const test = "sigs.k8s.io/cluster-api/test";
const version = "v1.14.2";
const namespace = "default";
const clusters = `/apis/cluster.x-k8s.io/v1beta2/namespaces/${namespace}`;
const controlPlanes = `/apis/controlplane.cluster.x-k8s.io/v1beta2/namespaces/${namespace}/kubeadmcontrolplanes`;
const bootstrap = `/apis/bootstrap.cluster.x-k8s.io/v1beta2/namespaces/${namespace}`;
const infrastructure = `/apis/infrastructure.cluster.x-k8s.io/v1beta2/namespaces/${namespace}`;
const kept = [
  `${clusters}/clusters`,
  `${clusters}/clusterclasses`,
  `${clusters}/machines`,
  `${clusters}/machinesets`,
  `${clusters}/machinedeployments`,
  `${clusters}/machinehealthchecks`,
  controlPlanes,
  `${bootstrap}/kubeadmconfigs`,
  `${bootstrap}/kubeadmconfigtemplates`,
  `${infrastructure}/devclusters`,
  `${infrastructure}/devmachines`,
  `${infrastructure}/devmachinetemplates`,
];

/** The programs, with the module and the folder of their manifests, and the prefix of their webhook configurations. */
const managers = [
  { program: "core", module: core, folder: "core/config", prefix: "capi" },
  { program: "bootstrap", module: core, folder: "bootstrap/kubeadm/config", prefix: "capi-kubeadm-bootstrap" },
  {
    program: "control-plane",
    module: core,
    folder: "controlplane/kubeadm/config",
    prefix: "capi-kubeadm-control-plane",
  },
  { program: "infrastructure", module: test, folder: "infrastructure/docker/config", prefix: "capd" },
] as const;

export const clusterApi: Study = {
  name: "cluster-api",
  about: "makes a cluster of a ClusterClass on the in-memory infrastructure, scales, upgrades and deletes it",
  module: `${test}@${version}`,
  more: [`${core}@${version}`],
  programs: {
    core: `${core}/core`,
    bootstrap: `${core}/bootstrap/kubeadm`,
    "control-plane": `${core}/controlplane/kubeadm`,
    infrastructure: "./infrastructure/docker",
  },
  hasGeneratedNames: true,
  // Each server has its own authority, and the machines get theirs.
  varying: ["caBundle", "caCertHashes", "token", "lastUpdated", "cluster.x-k8s.io/cloned-from-name"],
  run,
};

async function run(stage: Stage): Promise<void> {
  const directory = join(stage.directory, "certificates");
  const caBundle = await writeCertificates(directory);
  for (const manager of managers) await startManager(stage, manager, directory, caBundle);
  for (const { object } of readDocuments([
    stage.path(test, "infrastructure/docker/templates/clusterclass-in-memory.yaml"),
  ]))
    await stage.apply(withoutPauses(object));
  await stage.apply(cluster({ version: "v1.34.0", controlPlane: 1, workers: 2 }));
  await isReady(stage, "v1.34.0", 1, 2);
  await stage.keep("created", ...kept);
  await stage.answer("the cluster at v1beta1", `GET ${clusters.replace("v1beta2", "v1beta1")}/clusters/shop`);
  await stage.answer("a lower version", `PATCH ${clusters}/clusters/shop`, topology({ version: "v1.33.0" }));

  await stage.apply(cluster({ version: "v1.34.0", controlPlane: 3, workers: 1 }));
  await isReady(stage, "v1.34.0", 3, 1);
  await stage.keep("scaled", ...kept);
  await stage.apply(cluster({ version: "v1.35.0", controlPlane: 3, workers: 1 }));
  await isReady(stage, "v1.35.0", 3, 1);
  await stage.keep("upgraded", ...kept);

  await stage.send(`DELETE ${clusters}/clusters/shop`);
  await stage.until("the cluster is gone", `${clusters}/clusters/shop`, (body) => body === undefined);
  await stage.keep("deleted", ...kept);
}

/** @returns the authority, in base64 */
async function writeCertificates(directory: string): Promise<string> {
  const life = { notBefore: Date.now() - 3_600_000, notAfter: Date.now() + 86_400_000 };
  const authority = await createAuthority({ subject: { commonName: "webhook" }, ...life });
  const leaf = { subject: { commonName: "cluster-api" }, usage: "server", names: ["127.0.0.1"], ...life } as const;
  const serving = await issueCertificate(authority, leaf);
  mkdirSync(directory);
  writeFileSync(join(directory, "tls.crt"), serving.cert);
  writeFileSync(join(directory, "tls.key"), serving.key, { mode: 0o600 });
  return Buffer.from(authority.cert).toString("base64");
}

/** Installs the definitions, starts the program, and then configures its admission webhooks. */
async function startManager(
  stage: Stage,
  { program, module, folder, prefix }: (typeof managers)[number],
  certificates: string,
  caBundle: string,
): Promise<void> {
  const [webhooks, ready] = (await freePorts(2)) as [number, number];
  const clientConfig = (path: string): object => ({ url: `https://127.0.0.1:${webhooks}${path}`, caBundle });
  for (const { object } of readDocuments([stage.path(module, `${folder}/crd/bases`)])) {
    await stage.apply(served(object, clientConfig("/convert")));
    const path = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${object.metadata.name}`;
    await stage.until(`${object.metadata.name} is established`, path, isEstablished);
  }
  stage.start(
    program,
    [
      `--kubeconfig=${stage.kubeconfig}`,
      `--webhook-port=${webhooks}`,
      `--webhook-cert-dir=${certificates}`,
      `--health-addr=127.0.0.1:${ready}`,
      "--diagnostics-address=127.0.0.1:0",
      "--insecure-diagnostics",
      "--feature-gates=ClusterTopology=true",
    ],
    { POD_IP: "127.0.0.1", POD_NAMESPACE: namespace, POD_NAME: program, POD_UID: program },
  );
  await stage.ready(`http://127.0.0.1:${ready}/readyz`);
  for (const { object } of readDocuments([stage.path(module, `${folder}/webhook/manifests.yaml`)])) {
    const { metadata, webhooks: entries = [] } = object as Body;
    const called = entries.map((one: Body) => ({ ...one, clientConfig: clientConfig(one.clientConfig.service.path) }));
    await stage.apply({ ...object, metadata: { name: `${prefix}-${metadata.name}` }, webhooks: called });
  }
}

/** With the labels that name its contract, and the conversion of its manager. */
function served(definition: Body, clientConfig: object): object {
  const { metadata, spec } = definition;
  const labels = { "cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta2" };
  const webhook = { conversionReviewVersions: ["v1"], clientConfig };
  return {
    ...definition,
    metadata: { ...metadata, labels: { ...metadata.labels, ...labels } },
    spec: { ...spec, conversion: { strategy: "Webhook", webhook } },
  };
}

/** The machines of the class start at once. */
function withoutPauses(object: object): object {
  return JSON.parse(JSON.stringify(object).replace(/"startupDuration":"\w+"/g, '"startupDuration":"1s"'));
}

interface Topology {
  readonly version?: string;
  readonly controlPlane?: number;
  readonly workers?: number;
}

function topology({ version = "v1.34.0", controlPlane = 1, workers = 1 }: Topology): object {
  const machineDeployments = [{ class: "default-worker", name: "md-0", replicas: workers }];
  const spec = {
    classRef: { name: "in-memory" },
    version,
    controlPlane: { replicas: controlPlane },
    workers: { machineDeployments },
  };
  return { spec: { topology: spec } };
}

function cluster(options: Topology): object {
  const { spec } = topology(options) as { spec: object };
  const network = { services: { cidrBlocks: ["10.128.0.0/12"] }, pods: { cidrBlocks: ["192.168.0.0/16"] } };
  const metadata = { name: "shop", namespace };
  return {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Cluster",
    metadata,
    spec: { clusterNetwork: { ...network, serviceDomain: "cluster.local" }, ...spec },
  };
}

async function isReady(stage: Stage, release: string, controlPlane: number, workers: number): Promise<void> {
  const hasNode = ({ spec, status }: Body): boolean => spec.version === release && status?.nodeRef?.name !== undefined;
  await stage.until(`there are ${controlPlane} + ${workers} machines of ${release}`, `${clusters}/machines`, (body) => {
    const ofControlPlane = body.items.filter(
      ({ metadata }: Body) => "cluster.x-k8s.io/control-plane" in metadata.labels,
    );
    const isComplete = ofControlPlane.length === controlPlane && body.items.length === controlPlane + workers;
    return isComplete && body.items.every(hasNode);
  });
  await stage.until("the cluster is available", `${clusters}/clusters/shop`, (body) => {
    const conditions: readonly Body[] = body.status.conditions;
    const stateOf = (name: string): string | undefined => conditions.find(({ type }) => type === name)?.status;
    return stateOf("Available") === "True" && stateOf("RollingOut") === "False" && stateOf("ScalingUp") === "False";
  });
}
