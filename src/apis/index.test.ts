import assert from "node:assert/strict";
import { test } from "node:test";
import { builtinDefinitions } from "../catalog/builtin-definitions.ts";
import { builtinConversions, builtinStrategies, strategiesWith } from "./index.ts";
import { createActions } from "./subresources.ts";

const served = { serves: (_group: string, version: string): boolean => !/alpha|beta/.test(version) };
const definitions = builtinDefinitions({ strategies: builtinStrategies, conversions: builtinConversions, served });
const byName = new Map(definitions.map((definition) => [`${definition.group}/${definition.resource}`, definition]));

test("every entry is for an existing kind", () => {
  for (const key of Object.keys(builtinStrategies)) assert.ok(byName.has(key), key);
  for (const key of Object.keys(builtinConversions)) assert.ok(byName.has(key.split("/").slice(0, 2).join("/")), key);
});

/**
 * Subresources that upstream implements as views of the object. The others are actions,
 * connections, `status` and `scale`.
 */
const elsewhere = new Set(["pods/log", "serviceaccounts/token"]);

test("every subresource of a served version is implemented", () => {
  for (const { group, resource, versions, strategy } of definitions) {
    for (const { name, connect } of versions
      .filter((version) => version.served)
      .flatMap(({ subresources }) => subresources)) {
      const known =
        name === "status" ||
        (name === "scale" && strategy.scale !== undefined) ||
        Object.hasOwn(strategy.subresources, name) ||
        Object.hasOwn(createActions, `${group}/${resource}/${name}`) ||
        connect !== undefined ||
        elsewhere.has(`${resource}/${name}`);
      assert.ok(known, `${group}/${resource}/${name}`);
    }
  }
});

test("only events expire, after the configured time", () => {
  const strategies = strategiesWith({ eventTtlSeconds: 7 });
  const expiring = Object.entries(strategies).flatMap(([key, { ttlSeconds }]) =>
    ttlSeconds === undefined ? [] : [[key, ttlSeconds]],
  );
  assert.deepEqual(expiring, [
    ["/events", 7],
    ["events.k8s.io/events", 7],
  ]);
});
