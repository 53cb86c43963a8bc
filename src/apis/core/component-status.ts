/**
 * ComponentStatus: computed for each request from the health of a component.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/registry/core/componentstatus/rest.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { Column } from "../../catalog/strategy-contract.ts";
import type { ComputedObjects } from "../../registry/contract.ts";
import { text } from "../column.ts";
import type { Part } from "../fields.ts";

/** Source: `k8s.io/kubernetes@v1.36.0/pkg/printers/internalversion/printers.go`. */
const componentHealth = ({ conditions = [] }: KubeObject): Part =>
  conditions.find(({ type }: Part) => type === "Healthy") ?? {};

const componentStatusColumns: readonly Column[] = [
  nameColumn,
  text("Status", "Status of the component conditions", (component) => healthText(componentHealth(component).status)),
  text("Message", "Message of the component conditions", (component) => componentHealth(component).message ?? ""),
  text("Error", "Error of the component conditions", (component) => componentHealth(component).error ?? ""),
];

/** The strategy of `componentstatuses`, which are not stored. */
export const componentStatus = strategy({ columns: componentStatusColumns });

interface ComponentHealth {
  readonly status: "True" | "False" | "Unknown";
  readonly message?: string;
  readonly error?: string;
}

/** @returns the health of one component; does not throw */
export type HealthProbe = () => Promise<ComponentHealth>;

/**
 * @param probes by component; concurrent requests share a running probe
 * @returns the objects of `componentstatuses`
 */
export function componentStatuses(probes: Readonly<Record<string, HealthProbe>>): ComputedObjects {
  const components = new Map(Object.entries(probes).map(([name, probe]) => [name, shared(probe)]));
  const statusOf = async (name: string, probe: HealthProbe): Promise<KubeObject> => ({
    metadata: { name },
    conditions: [{ type: "Healthy", ...(await probe()) }],
  });
  return {
    missing: { group: "", resource: "componentstatus" },
    list: () => Promise.all([...components].map(([name, probe]) => statusOf(name, probe))),
    async get(name) {
      const probe = components.get(name);
      return probe && (await statusOf(name, probe));
    },
  };
}

function shared(probe: HealthProbe): HealthProbe {
  let running: Promise<ComponentHealth> | undefined;
  return () => {
    running ??= probe().finally(() => {
      running = undefined;
    });
    return running;
  };
}

function healthText(status: string | undefined): string {
  if (status === undefined) return "Unknown";
  return status === "True" ? "Healthy" : "Unhealthy";
}
