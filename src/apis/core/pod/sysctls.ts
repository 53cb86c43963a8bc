/** Kernel parameters of a pod. Source: component-helpers' sysctl namespaces, core validation. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";

const segment = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?";
const namePattern = `^(${segment}[\\./])*${segment}$`;
const wholeName = new RegExp(namePattern);
const nameLengthMax = 253;

const ofIpc = ["kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced", "kernel.shm"];
const ofIpcMessages = ["kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"];

export function validateSysctls(spec: Part, path: string, anyOfHost: boolean, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { name = "" }] of items(spec.securityContext.sysctls).entries()) {
    const at = `${path}[${index}].name`;
    if (name === "") errors.required(at);
    else if (!isSysctlName(name))
      errors.invalid(at, name, `must have at most ${nameLengthMax} characters and match regex ${namePattern}`);
    else if (names.has(name)) errors.duplicate(at, name);
    const shared = anyOfHost ? undefined : isHostSysctl(name, spec);
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
  const isIpc = ofIpc.includes(parameter) || ofIpcMessages.includes(parameter) || parameter.startsWith("fs.mqueue.");
  return hostIPC === true && isIpc ? "hostIPC" : undefined;
}

/** Written with slashes, dots and slashes change places: `net/ipv4/conf/eno1.100/rp_filter`. */
function normalName(name: string): string {
  const first = /[./]/.exec(name)?.[0];
  if (first !== "/") return name;
  return name.replace(/[./]/g, (separator) => (separator === "." ? "/" : "."));
}
