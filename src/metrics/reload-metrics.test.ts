import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { serverIdentity } from "../apimachinery/server-identity.ts";
import { formatMetrics } from "./exposition.ts";
import { reloadMetrics } from "./reload-metrics.ts";

test("computes the identity of a server like upstream", () => {
  assert.equal(serverIdentity("host.example.com"), "apiserver-uv34gb2cz3snqs6h47hhg4cei4");
});

test("records reloads of a configuration", () => {
  const clock = manualClock(5_500_000);
  const metrics = reloadMetrics("authorization", { clock, identity: "a" });
  const seriesLines = (): string[] =>
    formatMetrics(metrics.collect())
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
  const server = 'apiserver_id_hash="sha256:ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"';
  assert.deepEqual(seriesLines(), []);
  metrics.started(Buffer.from("b"));
  const info = (hash: string): string =>
    `apiserver_authorization_config_controller_last_config_info{${server},hash="sha256:${hash}"} 1`;
  assert.deepEqual(seriesLines(), [info("3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d")]);
  metrics.failed();
  clock.advance(1000);
  metrics.succeeded(Buffer.from("c"));
  metrics.succeeded(Buffer.from("c"));
  const prefix = "apiserver_authorization_config_controller_automatic_reload";
  assert.deepEqual(seriesLines(), [
    `${prefix}s_total{${server},status="failure"} 1`,
    `${prefix}s_total{${server},status="success"} 2`,
    `${prefix}_last_timestamp_seconds{${server},status="failure"} 5500`,
    `${prefix}_last_timestamp_seconds{${server},status="success"} 5501`,
    info("2e7d2c03a9507ae265ecf5b5356885a53393a2029d241394997265a1a25aefc6"),
  ]);
});
