/** The rows of all metrics. */
import { admissionRows } from "./admission-metrics.ts";
import { aggregationRows } from "./aggregation-metrics.ts";
import { allocatorRows } from "./allocator-metrics.ts";
import { auditRows } from "./audit-metrics.ts";
import { authenticationRows } from "./authentication-metrics.ts";
import { authorizationRows } from "./authorization-metrics.ts";
import { cacheRows } from "./cache-metrics.ts";
import { callRows } from "./call-metrics.ts";
import { certificateRows } from "./certificate-metrics.ts";
import { configurationRows } from "./configuration-metrics.ts";
import { conversionRows } from "./conversion-metrics.ts";
import { encryptionRows } from "./encryption-metrics.ts";
import { etcdRows } from "./etcd-metrics.ts";
import { eventLoopRows } from "./event-loop-metric.ts";
import { externalSignerRows } from "./external-signer-metrics.ts";
import { flowControlRows, levelRows, schemaRows } from "./flow-control-rows.ts";
import { healthRows } from "./health-metrics.ts";
import { impersonationRows } from "./impersonation-metrics.ts";
import { jwtRows } from "./jwt-metrics.ts";
import { kubeletRows } from "./kubelet-metrics.ts";
import { leaderElectionRows } from "./leader-election-metrics.ts";
import { manifestRows } from "./manifest-metrics.ts";
import type { MetricRow } from "./metric-row.ts";
import { serverRows } from "./metrics.ts";
import { peerRows } from "./peer-metrics.ts";
import { podSecurityRows } from "./pod-security-metrics.ts";
import { policyRows } from "./policy-metrics.ts";
import { processRows } from "./process-metrics.ts";
import { queueRows } from "./queue-metrics.ts";
import { reloadRows } from "./reload-metrics.ts";
import { requestRows } from "./request-metrics.ts";
import { serviceAccountRows } from "./service-account-metrics.ts";
import { shownRows } from "./shown-metrics.ts";
import { signingRequestRows } from "./signing-request-metrics.ts";
import { tokenRows } from "./token-metrics.ts";
import { tracingRows } from "./tracing-metrics.ts";
import { unexpectedRows } from "./unexpected-errors.ts";
import { validationRows } from "./validation-metrics.ts";
import { watchRows } from "./watch-metrics.ts";
import { webhookRows } from "./webhook-metrics.ts";

/** Each metric has one row. docs/reference/metrics.md lists them. */
export const metricRows: readonly MetricRow[] = [
  admissionRows,
  aggregationRows,
  allocatorRows,
  auditRows,
  authenticationRows,
  authorizationRows,
  cacheRows,
  callRows,
  certificateRows,
  configurationRows,
  conversionRows,
  encryptionRows,
  etcdRows,
  eventLoopRows,
  externalSignerRows,
  flowControlRows,
  healthRows,
  impersonationRows,
  jwtRows,
  kubeletRows,
  leaderElectionRows,
  levelRows,
  manifestRows,
  peerRows,
  podSecurityRows,
  policyRows,
  processRows,
  queueRows,
  reloadRows.authentication,
  reloadRows.authorization,
  reloadRows.encryption,
  requestRows,
  schemaRows,
  serverRows,
  serviceAccountRows,
  shownRows,
  signingRequestRows,
  tokenRows,
  tracingRows,
  unexpectedRows,
  validationRows,
  watchRows,
  webhookRows,
].flatMap((rows): MetricRow[] => Object.values(rows));
