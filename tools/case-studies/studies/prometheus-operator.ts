/** The Prometheus Operator makes StatefulSets, Secrets and rule files of its custom resources. */
import { gunzipSync } from "node:zlib";
import type { Body, Stage, Study } from "../contract.ts";

const operator = "github.com/prometheus-operator/prometheus-operator";
const namespace = "monitoring";
const monitoring = `/apis/monitoring.coreos.com/v1/namespaces/${namespace}`;
const statefulSets = `/apis/apps/v1/namespaces/${namespace}/statefulsets`;
const kept = [
  statefulSets,
  `/api/v1/namespaces/${namespace}/secrets`,
  `/api/v1/namespaces/${namespace}/configmaps`,
  `/api/v1/namespaces/${namespace}/services`,
  `/api/v1/namespaces/${namespace}/events`,
  `${monitoring}/prometheuses`,
  `${monitoring}/alertmanagers`,
  `${monitoring}/thanosrulers`,
  `${monitoring}/servicemonitors`,
  `${monitoring}/prometheusrules`,
];
const definitions = [
  "alertmanagerconfigs",
  "alertmanagers",
  "podmonitors",
  "probes",
  "prometheusagents",
  "prometheuses",
  "prometheusrules",
  "scrapeconfigs",
  "servicemonitors",
  "thanosrulers",
];

export const prometheusOperator: Study = {
  name: "prometheus-operator",
  about:
    "configures a Prometheus with 50 ServiceMonitors and 20 rules, an Alertmanager and a ThanosRuler, changes and deletes them",
  module: `${operator}@v0.85.0`,
  programs: { "prometheus-operator": "./cmd/operator" },
  // The hash is that of the former StatefulSet, too.
  varying: ["prometheus-operator-input-hash"],
  run,
};

async function run(stage: Stage): Promise<void> {
  await stage.install(
    ...definitions.map((name) =>
      stage.path(operator, `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`),
    ),
  );
  await stage.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } });
  stage.start("prometheus-operator", [
    "--web.listen-address=127.0.0.1:0",
    "--feature-gates=StatusForConfigurationResources=true",
  ]);
  await prepare(stage);
  await hasSets(stage, "alertmanager-main,prometheus-main,prometheus-main-shard-1,thanos-ruler-main");
  await stage.keep("created", ...kept);

  await stage.apply(prometheus({ shards: 1, retention: "5d" }));
  await stage.send(`DELETE ${monitoring}/servicemonitors/app-0`);
  await stage.apply(monitor(1, { interval: "not a duration" })).catch((error: Error) => {
    if (!error.message.includes(": 422 ")) throw error;
  });
  await stage.apply(rules(0, "this is not PromQL("));
  await stage.until("the change is made", `${statefulSets}/prometheus-main`, (body) =>
    JSON.stringify(body?.spec).includes("--storage.tsdb.retention.time=5d"),
  );
  await stage.until(
    "the configuration is changed",
    `/api/v1/namespaces/${namespace}/secrets/prometheus-main`,
    (body) => {
      const bytes = Buffer.from(body.data["prometheus.yaml.gz"], "base64");
      return !gunzipSync(bytes).includes("serviceMonitor/monitoring/app-0/");
    },
  );
  await stage.keep("changed", ...kept);

  for (const path of ["prometheuses/main", "alertmanagers/main", "thanosrulers/main"])
    await stage.send(`DELETE ${monitoring}/${path}`);
  await hasSets(stage, "");
  await stage.keep("deleted", ...kept);
}

async function prepare(stage: Stage): Promise<void> {
  const config = "route: {receiver: none}\nreceivers: [{name: none}]\n";
  await stage.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "alertmanager-main", namespace },
    stringData: { "alertmanager.yaml": config },
  });
  await stage.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "prometheus", namespace } });
  for (let index = 0; index < 50; index++) await stage.apply(monitor(index, { interval: "30s" }));
  for (let index = 0; index < 20; index++) await stage.apply(rules(index, `sum(up{app="app-${index}"}) < 1`));
  await stage.apply(prometheus({ shards: 2, retention: "2d" }));
  await stage.apply(custom("Alertmanager", "main", { replicas: 3 }));
  await stage.apply(
    custom("ThanosRuler", "main", {
      image: "quay.io/thanos/thanos:v0.39.0",
      queryEndpoints: ["http://query:9090"],
      ruleSelector: {},
    }),
  );
}

function prometheus({ shards, retention }: { shards: number; retention: string }): object {
  return custom("Prometheus", "main", {
    replicas: 2,
    shards,
    retention,
    serviceAccountName: "prometheus",
    serviceMonitorSelector: {},
    ruleSelector: {},
  });
}

function monitor(index: number, endpoint: object): object {
  const selector = { matchLabels: { app: `app-${index}` } };
  return custom("ServiceMonitor", `app-${index}`, { selector, endpoints: [{ port: "web", ...endpoint }] });
}

function rules(index: number, expr: string): object {
  const rule = { alert: "Down", expr, for: "5m", labels: { severity: "page" } };
  return custom("PrometheusRule", `rules-${index}`, { groups: [{ name: "availability", rules: [rule] }] });
}

function custom(kind: string, name: string, spec: object): object {
  return { apiVersion: "monitoring.coreos.com/v1", kind, metadata: { name, namespace }, spec };
}

function hasSets(stage: Stage, names: string): Promise<void> {
  const nameOf = ({ metadata }: Body): string => metadata.name;
  return stage.until(`the StatefulSets are ${names}`, statefulSets, (body) => {
    return body.items.map(nameOf).sort().join() === names;
  });
}
