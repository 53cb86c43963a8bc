/**
 * The ServiceCIDR `kubernetes` has the ranges of `--service-cluster-ip-range`.
 * Source:
 * k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/defaultservicecidr/default_servicecidr_controller.go.
 */

import assert from "node:assert/strict";
import { formatTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { formatRange, parseIpRanges } from "../../lib/ip-range/ip-range.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { serverWrite } from "../../registry/server-write.ts";
import { apply, update } from "../audited-writes.ts";
import type { BootObject } from "./ensure-object.ts";
import { ensureObject } from "./ensure-object.ts";

const name = "kubernetes";
const group = "networking.k8s.io";
const writer = "kubernetes-service-cidr-controller";

/** A problem that an operator has to solve. */
export interface RangeProblem {
  readonly kind: "error" | "inconsistent" | "notReady";
  readonly reason: string;
  readonly message: string;
}

/** @param range the stored ServiceCIDR */
type ReportProblem = (range: KubeObject, problem: RangeProblem) => void;

/**
 * Creates the ServiceCIDR if it is missing, adds the range of a second family, and marks it as
 * ready if its ranges are those of this server.
 *
 * @param ranges one CIDR, or one of each family separated by a comma
 * @param report receives what prevents that
 * @throws ApiError if it cannot be created
 */
export async function ensureDefaultServiceRange(
  registry: RegistryContext,
  ranges: string,
  report: ReportProblem = () => {},
): Promise<void> {
  const target = registry.catalog.find(group, "v1", "servicecidrs"); // Addresses need it even if it is not served.
  assert.ok(target !== undefined, "the catalog has no ServiceCIDRs");
  const cidrs = (parseIpRanges(ranges) ?? []).map(formatRange);
  const existing = await ensureObject(registry, defaultRange(cidrs));
  if (existing === undefined) return attempt(defaultRange(cidrs).object, report, notReady, markReady(registry, target));
  if (existing.metadata.deletionTimestamp !== undefined) return;
  const previous: readonly string[] = existing.spec?.cidrs ?? [];
  if (previous.length === 1 && cidrs.length === 2 && previous[0] === cidrs[0])
    await attempt(existing, report, notExtended(cidrs), extend(registry, target, cidrs));
  else if (previous.join() !== cidrs.join()) return report(existing, inconsistent(previous, cidrs)); // Another server has other ranges.
  const ready = readyCondition(existing);
  if (ready === undefined || ready.status === "Unknown")
    await attempt(existing, report, notReady, markReady(registry, target));
  else if (ready.status === "False") report(existing, setToFalse(ready)); // Another writer is not overruled.
}

const errorReason = "KubernetesDefaultServiceCIDRError";
const notReady = (): RangeProblem => ({
  kind: "error",
  reason: errorReason,
  message: "The default ServiceCIDR Status can not be set to Ready=True",
});
const notExtended =
  (cidrs: readonly string[]) =>
  (error: ApiError): RangeProblem => ({
    kind: "error",
    reason: errorReason,
    message: `The default ServiceCIDR can not be upgraded from ${cidrs[0]} to dual stack [${cidrs.join(" ")}] : ${error.message}`,
  });
const inconsistent = (stored: readonly string[], cidrs: readonly string[]): RangeProblem => ({
  kind: "inconsistent",
  reason: "KubernetesDefaultServiceCIDRInconsistent",
  message: `The default ServiceCIDR [${stored.join(" ")}] does not match the controller flag configurations [${cidrs.join(" ")}]`,
});
const setToFalse = ({ reason = "", message = "" }: ReadyCondition): RangeProblem => ({
  kind: "notReady",
  reason,
  message: `Configuration matches, but ${message}`,
});

/** Reports a write that was rejected. The next run repeats it. */
async function attempt(
  range: Omit<KubeObject, "apiVersion">,
  report: ReportProblem,
  problem: (error: ApiError) => RangeProblem,
  write: Promise<void>,
): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    report(range as KubeObject, problem(error));
  }
}

const defaultRange = (cidrs: readonly string[]): BootObject => ({
  group,
  version: "v1",
  resource: "servicecidrs",
  namespace: "",
  evenIfDisabled: true,
  object: { kind: "ServiceCIDR", metadata: { name }, spec: { cidrs: [...cidrs] } },
});

interface ReadyCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

function readyCondition({ status }: KubeObject): ReadyCondition | undefined {
  return ((status?.conditions ?? []) as readonly ReadyCondition[]).find(({ type }) => type === "Ready");
}

async function extend(registry: RegistryContext, target: Resolved, cidrs: readonly string[]): Promise<void> {
  await update(registry, {
    ...serverWrite({ target, name }),
    next(current) {
      const range = current?.() as KubeObject;
      return { ...range, spec: { ...range.spec, cidrs: [...cidrs] } };
    },
  });
}

async function markReady(registry: RegistryContext, target: Resolved): Promise<void> {
  const message = "Kubernetes default Service CIDR is ready";
  const ready = { type: "Ready", status: "True", message, lastTransitionTime: formatTime(registry.clock.now()) };
  const intent = {
    apiVersion: `${group}/v1`,
    kind: "ServiceCIDR",
    metadata: { name },
    status: { conditions: [ready] },
  };
  const body = Buffer.from(JSON.stringify(intent));
  await apply(registry, {
    ...serverWrite({ target, name, subresource: "status", fieldManager: writer }),
    body,
    force: true,
    fieldValidation: "Ignore",
  });
}
