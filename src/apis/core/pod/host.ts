/** What a pod shares with its host. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";
import { visitContainers } from "./containers-of.ts";

/** Of a pod in its host's network. @param path of the spec @param isPod a template need not say its host's ports */
export function validateHostPorts({ containers }: Part, path: string, isPod: boolean, errors: FieldErrors): void {
  for (const [index, { ports }] of items(containers).entries()) {
    for (const [place, { hostPort = 0, containerPort = 0 }] of items(ports).entries()) {
      if ((!isPod && hostPort === 0) || hostPort === containerPort) continue;
      const at = `${path}.containers[${index}].ports[${place}].hostPort`;
      errors.invalid(at, hostPort, "must match `containerPort` when `hostNetwork` is true");
    }
  }
}

export interface HostUsersRules {
  readonly userNamespaceHostNetwork: boolean;
  readonly userNamespaceDevices: boolean;
}

/** Of a pod whose users are not those of its host. */
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
