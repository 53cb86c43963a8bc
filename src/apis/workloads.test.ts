import assert from "node:assert/strict";
import { test } from "node:test";
import { created, updated } from "../../test/support/strategy-driver.ts";
import type { Strategy } from "../catalog/strategy-contract.ts";
import { daemonSet } from "./apps/daemon-set.ts";
import { deployment } from "./apps/deployment.ts";
import { replicaSet } from "./apps/replica-set.ts";
import { statefulSet } from "./apps/stateful-set.ts";
import { horizontalPodAutoscalerV1 } from "./autoscaling/conversion.ts";
import { horizontalPodAutoscaler } from "./autoscaling/horizontal-pod-autoscaler.ts";
import { cronJob } from "./batch/cron-job.ts";
import { job } from "./batch/job.ts";
import { formatLabelSelector } from "./label-selector.ts";

const template = { metadata: { labels: { app: "a" } }, spec: { containers: [{ name: "c", image: "i:1" }] } };
const selector = { matchLabels: { app: "a" } };

const defaultRows: [what: string, kind: Strategy, spec: Record<string, unknown>, want: Record<string, unknown>][] = [
  [
    "deployment",
    deployment,
    { selector, template },
    {
      replicas: 1,
      revisionHistoryLimit: 10,
      progressDeadlineSeconds: 600,
      strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
    },
  ],
  [
    "deployment that recreates",
    deployment,
    { selector, template, strategy: { type: "Recreate" } },
    { strategy: { type: "Recreate" } },
  ],
  ["deployment of none", deployment, { selector, template, replicas: 0 }, { replicas: 0 }],
  ["replica set", replicaSet, { selector, template }, { replicas: 1 }],
  [
    "stateful set",
    statefulSet,
    { selector, template },
    {
      replicas: 1,
      podManagementPolicy: "OrderedReady",
      updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
      persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
    },
  ],
  [
    "daemon set",
    daemonSet,
    { selector, template },
    { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } },
  ],
  [
    "cron job",
    cronJob,
    {
      schedule: "* * * * *",
      jobTemplate: { spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } } },
    },
    { concurrencyPolicy: "Allow", suspend: false, successfulJobsHistoryLimit: 3, failedJobsHistoryLimit: 1 },
  ],
  [
    "job",
    job,
    { template: { spec: { ...template.spec, restartPolicy: "Never" } } },
    {
      completions: 1,
      parallelism: 1,
      backoffLimit: 6,
      completionMode: "NonIndexed",
      suspend: false,
      podReplacementPolicy: "TerminatingOrFailed",
    },
  ],
];

for (const [what, kind, spec, want] of defaultRows) {
  test(`defaults of a ${what}`, () => {
    const { object, problems } = created(kind, { spec });
    assert.deepEqual(problems, []);
    for (const [field, value] of Object.entries(want)) assert.deepEqual(object.spec[field], value, field);
  });
}

const problemRows: [what: string, kind: Strategy, spec: Record<string, unknown>, want: string[]][] = [
  [
    "deployment without a selector",
    deployment,
    { template },
    [
      "spec.selector: Required value",
      'spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`',
    ],
  ],
  [
    "daemon set without a selector",
    daemonSet,
    { template: { spec: template.spec } },
    ["spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"],
  ],
  [
    "deployment of another type",
    deployment,
    { selector, template, strategy: { type: "Bad" } },
    [
      'spec.strategy: Unsupported value: {"Type":"Bad","RollingUpdate":null}: supported values: "Recreate", "RollingUpdate"',
    ],
  ],
  [
    "deployment that cannot roll",
    deployment,
    { selector, template, strategy: { rollingUpdate: { maxUnavailable: 0, maxSurge: 0 } } },
    ["spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when `maxSurge` is 0"],
  ],
  [
    "deployment with odd percentages",
    deployment,
    { selector, template, strategy: { rollingUpdate: { maxUnavailable: "101%", maxSurge: "x%" } } },
    [
      "spec.strategy.rollingUpdate.maxSurge: Invalid value: \"x%\": a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be greater than 100%',
    ],
  ],
  [
    "daemon set with both numbers",
    daemonSet,
    { selector, template, updateStrategy: { rollingUpdate: { maxUnavailable: 1, maxSurge: "10%" } } },
    [
      'spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "10%": may not be set when maxUnavailable is non-zero',
    ],
  ],
  [
    "daemon set with neither number",
    daemonSet,
    { selector, template, updateStrategy: { rollingUpdate: { maxUnavailable: 0 } } },
    ["spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0"],
  ],
  [
    "deployment that does not select its template",
    deployment,
    { selector: { matchLabels: { app: "b" } }, template },
    ['spec.template.metadata.labels: Invalid value: {"app":"a"}: `selector` does not match template `labels`'],
  ],
  [
    "job that restarts always",
    job,
    { template },
    ['spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never"'],
  ],
];

for (const [what, kind, spec, want] of problemRows) {
  test(`problems of a ${what}`, () => assert.deepEqual(created(kind, { spec }).problems, want));
}

test("the selector of a deployment is immutable", () => {
  const { problems } = updated(deployment, { spec: { selector, template } }, (next) => {
    next.spec.selector = { matchLabels: { app: "b" } };
    next.spec.template.metadata.labels = { app: "b" };
  });
  assert.deepEqual(problems, ['spec.selector: Invalid value: {"matchLabels":{"app":"b"}}: field is immutable']);
});

test("a job selects its pods by its uid", () => {
  const { object } = created(job, {
    metadata: { uid: "u" },
    spec: { template: { spec: { ...template.spec, restartPolicy: "Never" } } },
  });
  assert.deepEqual(object.spec.selector, { matchLabels: { "batch.kubernetes.io/controller-uid": "u" } });
  assert.deepEqual(object.spec.template.metadata.labels, {
    "batch.kubernetes.io/controller-uid": "u",
    "batch.kubernetes.io/job-name": "x",
    "controller-uid": "u",
    "job-name": "x",
  });
});

test("a job without labels gets all labels of its template, with those of its uid", () => {
  const spec = { template: { metadata: { labels: { app: "a" } }, spec: { ...template.spec, restartPolicy: "Never" } } };
  const { object } = created(job, { metadata: { uid: "u" }, spec });
  assert.deepEqual(object.metadata.labels, object.spec.template.metadata.labels);
  assert.equal(object.metadata.labels?.["job-name"], "x");
  const { object: labelled } = created(job, { metadata: { uid: "u", labels: { own: "1" } }, spec });
  assert.deepEqual(labelled.metadata.labels, { own: "1" });
});

test("a daemon set counts changes of its template", () => {
  const { object } = updated(daemonSet, { spec: { selector, template } }, (next) => {
    next.spec.template.spec.containers[0].image = "i:2";
  });
  assert.equal(object.metadata.annotations?.["deprecated.daemonset.template.generation"], "2");
});

test("reads and writes a scale", () => {
  const { object } = created(deployment, { metadata: { uid: "u" }, spec: { selector, template, replicas: 3 } });
  assert.deepEqual(deployment.scale?.toScale(object), {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name: "x", namespace: "ns", uid: "u" },
    spec: { replicas: 3 },
    status: { replicas: 0, selector: "app=a" },
  });
  deployment.scale?.applyScale(object, 5);
  assert.equal(object.spec.replicas, 5);
});

test("selectors as text", () => {
  const matchExpressions = [
    { key: "z", operator: "DoesNotExist" },
    { key: "b", operator: "In", values: ["y", "x"] },
    { key: "c", operator: "NotIn", values: ["x"] },
    { key: "d", operator: "Exists" },
  ];
  assert.equal(formatLabelSelector({ matchLabels: { a: "1" }, matchExpressions }), "a=1,b in (x,y),c notin (x),d,!z");
});

test("autoscalers convert between v1 and v2 without loss", () => {
  const target = { kind: "Deployment", name: "d", apiVersion: "apps/v1" };
  const v2 = {
    metadata: { name: "x", namespace: "ns", annotations: { mine: "1" } },
    spec: {
      scaleTargetRef: target,
      minReplicas: 1,
      maxReplicas: 5,
      metrics: [
        { type: "Resource", resource: { name: "memory", target: { type: "AverageValue", averageValue: "10Mi" } } },
        {
          type: "Pods",
          pods: {
            metric: { name: "hits", selector: { matchLabels: { a: "b" } } },
            target: { type: "AverageValue", averageValue: "5" },
          },
        },
        {
          type: "Object",
          object: { describedObject: target, target: { type: "Value", value: "3" }, metric: { name: "m" } },
        },
        { type: "External", external: { metric: { name: "e" }, target: { type: "Value", value: "9" } } },
        { type: "Resource", resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } } },
      ],
      behavior: {
        scaleUp: { stabilizationWindowSeconds: 0, policies: [{ type: "Pods", value: 1, periodSeconds: 5 }] },
      },
    },
    status: {
      desiredReplicas: 2,
      currentMetrics: [
        { type: "Resource", resource: { name: "cpu", current: { averageValue: "100m", averageUtilization: 60 } } },
      ],
      conditions: [{ type: "AbleToScale", status: "True" }],
    },
  };
  const v1 = horizontalPodAutoscalerV1.fromStorage(structuredClone(v2));
  assert.deepEqual(v1.spec, {
    scaleTargetRef: target,
    minReplicas: 1,
    maxReplicas: 5,
    targetCPUUtilizationPercentage: 70,
  });
  assert.deepEqual(v1.status, { desiredReplicas: 2, currentCPUUtilizationPercentage: 60 });
  assert.deepEqual(Object.keys(v1.metadata.annotations ?? {}), [
    "mine",
    "autoscaling.alpha.kubernetes.io/metrics",
    "autoscaling.alpha.kubernetes.io/current-metrics",
    "autoscaling.alpha.kubernetes.io/conditions",
    "autoscaling.alpha.kubernetes.io/behavior",
  ]);
  assert.deepEqual(horizontalPodAutoscalerV1.toStorage(v1), v2);
});

test("an autoscaler without metrics targets 80 % CPU", () => {
  const { object } = created(horizontalPodAutoscaler, {
    spec: { scaleTargetRef: { kind: "Deployment", name: "d" }, maxReplicas: 2 },
  });
  assert.equal(horizontalPodAutoscalerV1.fromStorage(object).spec.targetCPUUtilizationPercentage, 80);
});
