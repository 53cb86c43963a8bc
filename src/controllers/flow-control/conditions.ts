/**
 * Writes the condition Dangling of flow schemas.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/apf_controller.go (`digestConfigObjects`).
 */

import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import {
  type Condition,
  conditionManager,
  danglingCondition,
  hasCondition,
} from "../../flow-control/dangling-condition.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { serverWrite } from "../../registry/server-write.ts";
import { apply } from "../audited-writes.ts";

/** Updates of one flow schema within a minute; further ones wait, because another writer disagrees. */
const updatesPerMinuteMax = 6;
const minuteMs = 60_000;

/** Whether a flow schema has the condition that it should have. @param nowMs milliseconds since 1970 */
export function hasTrueCondition(schema: KubeObject, levelExists: boolean, nowMs: number): boolean {
  return hasCondition(schema, trueCondition(schema, levelExists, nowMs));
}

function trueCondition({ spec }: KubeObject, levelExists: boolean, nowMs: number): Condition {
  return danglingCondition(spec?.priorityLevelConfiguration?.name ?? "", levelExists, nowMs);
}

/** Keeps the conditions of flow schemas true. */
export class DanglingConditions {
  /** Times of the updates in the last minute, by flow schema. */
  readonly #updates = new Map<string, number[]>();

  /**
   * Updates the condition if needed.
   * @returns false if the flow schema was updated too often, so that the caller tries again later
   * @throws ApiError if the write fails
   */
  async ensure(registry: RegistryContext, schema: KubeObject, levelExists: boolean): Promise<boolean> {
    const now = registry.clock.now();
    const condition = trueCondition(schema, levelExists, now);
    if (hasCondition(schema, condition)) return true;
    const name = schema.metadata.name as string;
    if (!this.#mayUpdate(name, now)) return false;
    await writeCondition(registry, name, condition);
    return true;
  }

  #mayUpdate(name: string, now: number): boolean {
    for (const [other, times] of this.#updates) {
      const recent = times.filter((time) => time > now - minuteMs);
      if (recent.length === 0) this.#updates.delete(other);
      else this.#updates.set(other, recent);
    }
    const times = this.#updates.get(name) ?? [];
    if (times.length >= updatesPerMinuteMax) return false;
    this.#updates.set(name, [...times, now]);
    return true;
  }
}

async function writeCondition(registry: RegistryContext, name: string, condition: Condition): Promise<void> {
  const target = registry.catalog.findServed("flowcontrol.apiserver.k8s.io", "v1", "flowschemas");
  if (target === undefined) return; // Disabled by --runtime-config.
  const intent = {
    apiVersion: "flowcontrol.apiserver.k8s.io/v1",
    kind: "FlowSchema",
    metadata: { name },
    status: { conditions: [condition] },
  };
  try {
    await apply(registry, {
      ...serverWrite({ target, name, subresource: "status", fieldManager: conditionManager }),
      body: Buffer.from(JSON.stringify(intent)),
      force: true,
      fieldValidation: "Ignore",
    });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.reason !== "NotFound") throw error; // It was deleted.
  }
}
