import assert from "node:assert/strict";
import { test } from "node:test";
import { authorizationMetrics } from "./authorization-metrics.ts";
import { formatMetrics } from "./exposition.ts";

test("records decisions, webhook calls and match conditions under upstream's names", () => {
  const metrics = authorizationMetrics();
  assert.equal(formatMetrics(metrics.collect()), "");
  metrics.decisions("RBAC", "rbac").allowed += 2;
  metrics.decisions("Webhook", "w").denied++;
  assert.equal(metrics.decisions("RBAC", "rbac"), metrics.decisions("RBAC", "rbac"));
  metrics.webhookCalled("w", "success", 20);
  metrics.webhookCalled("w", "timeout", 3000);
  metrics.webhookFailedOpen("w", "timeout");
  metrics.conditionsEvaluated("w", "matched", 0);
  metrics.conditionsEvaluated("w", "excluded", 0);
  metrics.conditionsEvaluated("w", "failed", 0);
  metrics.attempted({ decision: "allow", reason: "", error: "x" }, 0);
  metrics.attempted({ decision: "deny", reason: "", error: "x" }, 0);
  metrics.attempted({ decision: "deny", reason: "" }, 0);
  metrics.attempted({ decision: "noOpinion", reason: "" }, 0);
  const lines = formatMetrics(metrics.collect())
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#") && !line.includes("_bucket{"));
  const webhook = 'name="w",type="Webhook"';
  assert.deepEqual(lines, [
    'authorization_attempts_total{result="allowed"} 1',
    'authorization_attempts_total{result="error"} 1',
    'authorization_attempts_total{result="denied"} 1',
    'authorization_attempts_total{result="no-opinion"} 1',
    ...["allowed", "error", "denied", "no-opinion"].flatMap((result) => [
      `authorization_duration_seconds_sum{result="${result}"} 0`,
      `authorization_duration_seconds_count{result="${result}"} 1`,
    ]),
    'apiserver_authorization_decisions_total{decision="allowed",name="rbac",type="RBAC"} 2',
    `apiserver_authorization_decisions_total{decision="denied",${webhook}} 1`,
    'apiserver_authorization_webhook_evaluations_total{name="w",result="success"} 1',
    'apiserver_authorization_webhook_evaluations_total{name="w",result="timeout"} 1',
    'apiserver_authorization_webhook_duration_seconds_sum{name="w",result="success"} 0.02',
    'apiserver_authorization_webhook_duration_seconds_count{name="w",result="success"} 1',
    'apiserver_authorization_webhook_duration_seconds_sum{name="w",result="timeout"} 3',
    'apiserver_authorization_webhook_duration_seconds_count{name="w",result="timeout"} 1',
    'apiserver_authorization_webhook_evaluations_fail_open_total{name="w",result="timeout"} 1',
    `apiserver_authorization_match_condition_evaluation_seconds_sum{${webhook}} 0`,
    `apiserver_authorization_match_condition_evaluation_seconds_count{${webhook}} 3`,
    `apiserver_authorization_match_condition_exclusions_total{${webhook}} 1`,
    `apiserver_authorization_match_condition_evaluation_errors_total{${webhook}} 1`,
  ]);
});
