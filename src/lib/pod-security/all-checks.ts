/**
 * All checks, in the order in which violations are reported: those of `baseline` by id, then those
 * of `restricted` by id. Source: k8s.io/pod-security-admission@v0.36.0/policy/registry.go.
 */
import { allowPrivilegeEscalation } from "./checks/allow-privilege-escalation.ts";
import { appArmorProfile } from "./checks/app-armor-profile.ts";
import { capabilitiesBaseline } from "./checks/capabilities-baseline.ts";
import { capabilitiesRestricted } from "./checks/capabilities-restricted.ts";
import { hostNamespaces } from "./checks/host-namespaces.ts";
import { hostPathVolumes } from "./checks/host-path-volumes.ts";
import { hostPorts } from "./checks/host-ports.ts";
import { hostProbesAndHostLifecycle } from "./checks/host-probes-and-host-lifecycle.ts";
import { privileged } from "./checks/privileged.ts";
import { procMount, procMountRestricted } from "./checks/proc-mount.ts";
import { restrictedVolumes } from "./checks/restricted-volumes.ts";
import { runAsNonRoot } from "./checks/run-as-non-root.ts";
import { runAsUser } from "./checks/run-as-user.ts";
import { seLinuxOptions } from "./checks/se-linux-options.ts";
import { seccompProfileBaseline } from "./checks/seccomp-profile-baseline.ts";
import { seccompProfileRestricted } from "./checks/seccomp-profile-restricted.ts";
import { sysctls } from "./checks/sysctls.ts";
import { windowsHostProcess } from "./checks/windows-host-process.ts";
import type { Check } from "./contract.ts";

export const allChecks: readonly Check[] = [
  appArmorProfile,
  capabilitiesBaseline,
  hostNamespaces,
  hostPathVolumes,
  hostPorts,
  hostProbesAndHostLifecycle,
  privileged,
  procMount,
  seLinuxOptions,
  seccompProfileBaseline,
  sysctls,
  windowsHostProcess,
  allowPrivilegeEscalation,
  capabilitiesRestricted,
  procMountRestricted,
  restrictedVolumes,
  runAsNonRoot,
  runAsUser,
  seccompProfileRestricted,
];
