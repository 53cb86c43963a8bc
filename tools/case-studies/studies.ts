/** All case studies. */
import type { Study } from "./contract.ts";
import { clusterApi } from "./studies/cluster-api.ts";
import { gatekeeperStudy } from "./studies/gatekeeper.ts";
import { kustomizeController } from "./studies/kustomize-controller.ts";
import { kyvernoStudy } from "./studies/kyverno.ts";
import { prometheusOperator } from "./studies/prometheus-operator.ts";

export const studies: readonly Study[] = [
  clusterApi,
  gatekeeperStudy,
  kustomizeController,
  kyvernoStudy,
  prometheusOperator,
];
