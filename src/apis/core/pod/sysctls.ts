/**
 * Validation of the kernel parameters of a pod.
 * Sources:
 * `k8s.io/component-helpers@v0.36.0/node/util/sysctl/namespace.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";

const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const namePattern = `^(${segment}[\\./])*${segment}$`;
const wholeName = new RegExp(namePattern);
const nameLengthMax = 253;

const ipcSysctls = [
  "kernel.sem",
  "kernel.shmall",
  "kernel.shmmax",
  "kernel.shmmni",
  "kernel.shm_rmid_forced",
  "kernel.shm",
];
const ipcMessageSysctls = ["kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"];

/** @param allowHostSysctls accepts parameters that the pod shares with its host */
export function validateSysctls(spec: Part, path: string, allowHostSysctls: boolean, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { name = "" }] of items(spec.securityContext.sysctls).entries()) {
    const at = `${path}[${index}].name`;
    if (name === "") errors.required(at);
    else if (!isSysctlName(name))
      errors.invalid(at, name, `must have at most ${nameLengthMax} characters and match regex ${namePattern}`);
    else if (names.has(name)) errors.duplicate(at, name);
    const shared = allowHostSysctls ? undefined : isHostSysctl(name, spec);
    if (shared !== undefined) errors.invalid(at, name, `may not be specified when '${shared}' is true`);
    names.add(name);
  }
}

function isSysctlName(name: string): boolean {
  return name.length <= nameLengthMax && wholeName.test(name);
}

/** @returns the field by which the pod shares the parameter with its host, if it does */
export function isHostSysctl(name: string, { hostNetwork, hostIPC }: Part): "hostNetwork" | "hostIPC" | undefined {
  if (hostNetwork !== true && hostIPC !== true) return undefined;
  const plain = normalName(name);
  const star = plain.indexOf("*");
  const parameter = star < 0 ? plain : plain.slice(0, star);
  if (hostNetwork === true && parameter.startsWith("net.")) return "hostNetwork";
  const isIpc =
    ipcSysctls.includes(parameter) || ipcMessageSysctls.includes(parameter) || parameter.startsWith("fs.mqueue.");
  return hostIPC === true && isIpc ? "hostIPC" : undefined;
}

/** In names separated by slashes (`net/ipv4/conf/eno1.100/rp_filter`), dots and slashes swap. */
function normalName(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== "/") return name;
  return name.replace(/[./]/g, (separator) => (separator === "." ? "/" : "."));
}
