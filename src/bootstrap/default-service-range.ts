/** The ServiceCIDR `kubernetes`: the ranges this server was started with. Source: kubernetes' pkg/controlplane/controller/defaultservicecidr. */
import { formatTime } from "../apimachinery/clock.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { loopbackUser } from "../apimachinery/system-user.ts";
import type { Resolved } from "../catalog/contract.ts";
import { formatRange, parseIpRanges } from "../lib/ip-range/ip-range.ts";
import { apply } from "../registry/apply.ts";
import type { RegistryContext, WriteRequest } from "../registry/contract.ts";
import { update } from "../registry/update.ts";
import { type BootObject, ensure, serverName } from "./boot-state.ts";

const name = "kubernetes";
const group = "networking.k8s.io";
const writer = "kubernetes-service-cidr-controller";

/**
 * Made where it is missing, of two ranges where it was of one; ready where it is as it should be.
 * @param ranges CIDR, or one of each family
 * @throws ApiError
 */
export async function ensureDefaultServiceRange(registry: RegistryContext, ranges: string): Promise<void> {
  const target = registry.catalog.findServed(group, "v1", "servicecidrs");
  if (target === undefined) return; // Switched off by --runtime-config.
  const cidrs = (parseIpRanges(ranges) ?? []).map(formatRange);
  const found = await ensure(registry, defaultRange(cidrs));
  if (found !== undefined && found.metadata.deletionTimestamp !== undefined) return;
  const before: readonly string[] = found?.spec?.cidrs ?? cidrs;
  if (before.length === 1 && cidrs.length === 2 && before[0] === cidrs[0]) await extend(registry, target, cidrs);
  else if (before.join() !== cidrs.join()) return; // The range of another server.
  if (!isDecided(found)) await declareReady(registry, target);
}

const defaultRange = (cidrs: readonly string[]): BootObject => ({
  group,
  version: "v1",
  resource: "servicecidrs",
  namespace: "",
  object: { kind: "ServiceCIDR", metadata: { name }, spec: { cidrs: [...cidrs] } },
});

/** Whoever says it is not ready is not spoken against. */
function isDecided(range: KubeObject | undefined): boolean {
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

async function declareReady(registry: RegistryContext, target: Resolved): Promise<void> {
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
