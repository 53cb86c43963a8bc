/**
 * Validation of the load balancer status of Services and Ingresses.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { validateLegacyIp } from "../../../apimachinery/validation/ip.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { parseIp } from "../../../lib/ip-range/ip-address.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";

interface LoadBalancerRules {
  readonly type: string;
  readonly strict: boolean;
  readonly old: Part | undefined;
}

const modes = ["Proxy", "VIP"];

/** @param path of the status, such as `status.loadBalancer` */
export function validateLoadBalancerStatus(
  status: Part,
  path: string,
  { type, strict, old }: LoadBalancerRules,
  errors: FieldErrors,
): void {
  const ingresses = items(status.ingress);
  if (type !== "LoadBalancer" && ingresses.length > 0) {
    return errors.forbidden(`${path}.ingress`, "may only be used when `spec.type` is 'LoadBalancer'");
  }
  for (const [index, { ip = "", ipMode, hostname = "" }] of ingresses.entries()) {
    const at = `${path}.ingress[${index}]`;
    if (ip !== "") validateLegacyIp(ip, `${at}.ip`, { strict, old: items(old?.ingress).map((one) => one.ip) }, errors);
    if ((ipMode ?? undefined) === undefined) {
      if (ip !== "") errors.required(`${at}.ipMode`, "must be specified when `ip` is set");
    } else if (ip === "") errors.forbidden(`${at}.ipMode`, "may not be specified when `ip` is not set");
    else if (!modes.includes(ipMode)) errors.notSupported(`${at}.ipMode`, ipMode, modes);
    if (hostname === "") continue;
    addInvalid(errors, `${at}.hostname`, hostname, dnsSubdomainProblems(hostname));
    if (parseIp(hostname) !== undefined)
      errors.invalid(`${at}.hostname`, hostname, "must be a DNS name, not an IP address");
  }
}
