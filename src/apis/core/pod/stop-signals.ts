/**
 * Validation of the stop signals of containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";

const linuxNames =
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ";
const windows = ["SIGKILL", "SIGTERM"];
const belowMax = 14;
const aboveMin = 15;

/** @param os of the pod; it determines the valid signals */
export function validateStopSignal(signal: string, os: Part | undefined, path: string, errors: FieldErrors): void {
  if (os === undefined) return errors.forbidden(path, "may not be set for containers with empty `spec.os.name`");
  const supported = os.name === "windows" ? windows : os.name === "linux" ? linuxSignals() : undefined;
  if (supported !== undefined && !supported.includes(signal)) errors.notSupported(path, signal, supported);
}

function linuxSignals(): string[] {
  const numbered = (count: number, name: (number: number) => string): string[] =>
    Array.from({ length: count }, (_, index) => name(index + 1));
  return [
    ...linuxNames.split(" ").map((name) => `SIG${name}`),
    "SIGRTMAX",
    "SIGRTMIN",
    ...numbered(belowMax, (number) => `SIGRTMAX-${number}`),
    ...numbered(aboveMin, (number) => `SIGRTMIN+${number}`),
  ].sort();
}
