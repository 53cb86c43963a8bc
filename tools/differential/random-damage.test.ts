/**
 * Damaged writes of all kinds, subresources and types of patches, as the differential tester's area `damage` makes them:
 * the server rejects them, and answers none with an internal error.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { seed } from "../../test/support/seed.ts";
import { startServerWithClient } from "../../test/support/server-with-client.ts";
import { makeSequence } from "./all-areas.ts";
import { damageOf } from "./areas/damage.ts";
import { openConnection } from "./connection.ts";
import { runOn } from "./sequence-run.ts";

const sequences = process.env.COXSWAIN_TEST_FULL === "1" ? 20_000 : 50;
const area = damageOf({ everything: true });

/** Upstream also answers these with 500: errors of its typed and strategic merge patches, and bindings, that are no Status. */
const upstreamsOwn = [
  /^failed to (?:create typed patch object|convert new object) \(/,
  /^unknown patch type: /,
  /^Timeout: Too large resource version: /,
  /^expected a \[\]interface \{\}, but received a /,
  /^unable to find api field in struct /,
  /does not contain declared merge key: /,
  /^list element types are not identical: /,
  /^cannot merge lists without merge key for /,
  /^merging lists cannot yet be specified in the patch/,
  /^merging an object in json but data type is not struct, instead is: /,
  /^The order in patch list:/,
  /^strconv\.ParseUint: parsing /,
  /^\[?target\.(?:kind|name): /,
];

/** What kube-apiserver logs as well: its hand-written validation leaves out the tolerations of a result, its declarations do not. */
const upstreamsDifference = /field: 'status\.allocation\.devices\.results\[\d+\]\.tolerations\[/;

/** What the server logged of requests that failed unexpectedly. */
const unexpected: string[] = [];
const { server } = await startServerWithClient({
  controllers: [],
  runtimeConfig: "api/all=true",
  featureGates: "AllAlpha=true,AllBeta=true",
  logger: { info() {}, warn() {}, error: (message, values) => void unexpected.push(`${message} ${inspect(values)}`) },
});

test(`no damaged write is answered with an internal error (SEED=${seed})`, async (t) => {
  const connection = openConnection(server.kubeconfig);
  t.after(() => connection.close());
  let accepted = 0;
  for (let index = 0; index < sequences; index++) {
    const { steps } = makeSequence(area, seed, index);
    const replies = await runOn(connection, steps, { texts: { namespace: `n${index}` }, now: Date.now() });
    for (const [at, reply] of replies.entries()) {
      if (reply === undefined) continue;
      if (reply.status < 300) accepted++;
      const { message = "" } = (reply.body ?? {}) as { message?: string };
      const isFine = reply.status !== 0 && (reply.status < 500 || upstreamsOwn.some((own) => own.test(message)));
      assert.ok(isFine, `${index}/${at} ${JSON.stringify(steps[at])}: ${reply.status} ${message} ${unexpected.at(-1)}`);
    }
  }
  assert.deepEqual(
    unexpected.filter((text) => !upstreamsDifference.test(text)),
    [],
  );
  assert.ok(accepted > sequences);
});
