/**
 * The ServiceCIDR `kubernetes` has the ranges of `--service-cluster-ip-range`.
 * Source:
 * k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/defaultservicecidr/default_servicecidr_controller.go.
 */
import { formatTime } from "../apimachinery/clock.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import type { Resolved } from "../catalog/contract.ts";
import { formatRange, parseIpRanges } from "../lib/ip-range/ip-range.ts";
import { apply } from "../registry/apply.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { update } from "../registry/update.ts";
import { type BootObject, ensureObject, serverName } from "./boot-state.ts";

const name = "kubernetes";
const group = "networking.k8s.io";
const writer = "kubernetes-service-cidr-controller";

/**
 * Creates the ServiceCIDR if it is missing, adds the range of a second family, and marks it as
 * ready if its ranges are those of this server.
 *
 * @param ranges one CIDR, or one of each family separated by a comma
 * @throws ApiError if a write fails
 */
export async function ensureDefaultServiceRange(registry: RegistryContext, ranges: string): Promise<void> {
  const target = registry.catalog.findServed(group, "v1", "servicecidrs");
  if (target === undefined) return; // Disabled by --runtime-config.
  const cidrs = (parseIpRanges(ranges) ?? []).map(formatRange);
  const existing = await ensureObject(registry, defaultRange(cidrs));
  if (existing !== undefined && existing.metadata.deletionTimestamp !== undefined) return;
  const previous: readonly string[] = existing?.spec?.cidrs ?? cidrs;
  if (previous.length === 1 && cidrs.length === 2 && previous[0] === cidrs[0]) await extend(registry, target, cidrs);
  else if (previous.join() !== cidrs.join()) return; // Another server has other ranges.
  if (!hasReadyCondition(existing)) await markReady(registry, target);
}

const defaultRange = (cidrs: readonly string[]): BootObject => ({
  group,
  version: "v1",
  resource: "servicecidrs",
  namespace: "",
  object: { kind: "ServiceCIDR", metadata: { name }, spec: { cidrs: [...cidrs] } },
});

/** Another writer that set the condition to False is not overruled. */
function hasReadyCondition(range: KubeObject | undefined): boolean {
  const conditions: readonly { readonly type: string; readonly status: string }[] = range?.status?.conditions ?? [];
  return conditions.some(({ type, status }) => type === "Ready" && status !== "Unknown");
}

async function extend(registry: RegistryContext, target: Resolved, cidrs: readonly string[]): Promise<void> {
  await update(registry, {
    ...requestAs(target, serverName),
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
    ...requestAs(target, writer),
    subresource: "status",
    body,
    force: true,
    fieldValidation: "Ignore",
  });
}

const requestAs = (target: Resolved, fieldManager: string): WriteRequest => ({
  target,
  namespace: "",
  name,
  subresource: "",
  user: loopbackUser,
  dryRun: false,
  fieldManager,
  userAgent: serverName,
  warnings: [],
});
