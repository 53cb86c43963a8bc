/**
 * Validation of host ports and host users.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";
import { visitContainers } from "./visit-containers.ts";

/**
 * Host ports of a pod with `hostNetwork`.
 *
 * @param path of the spec
 * @param isPod templates may omit host ports
 */
export function validateHostPorts({ containers }: Part, path: string, isPod: boolean, errors: FieldErrors): void {
  for (const [index, { ports }] of items(containers).entries()) {
    for (const [place, { hostPort = 0, containerPort = 0 }] of items(ports).entries()) {
      if ((!isPod && hostPort === 0) || hostPort === containerPort) continue;
      const at = `${path}.containers[${index}].ports[${place}].hostPort`;
      errors.invalid(at, hostPort, "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

interface HostUsersRules {
  readonly userNamespaceHostNetwork: boolean;
  readonly userNamespaceDevices: boolean;
}

/** Fields that conflict with `hostUsers: false`. @param path of the spec */
export function validateHostUsers(spec: Part, path: string, rules: HostUsersRules, errors: FieldErrors): void {
  const without = "when `hostUsers` is false";
  if (!rules.userNamespaceHostNetwork && spec.hostNetwork === true) errors.forbidden(`${path}.hostNetwork`, without);
  if (spec.hostPID === true) errors.forbidden(`${path}.HostPID`, without);
  if (spec.hostIPC === true) errors.forbidden(`${path}.HostIPC`, without);
  if (rules.userNamespaceDevices) return;
  visitContainers(spec, path, ({ volumeDevices }, at) => {
    if (items(volumeDevices).length > 0) errors.forbidden(`${at}.volumeDevices`, without);
  });
}
