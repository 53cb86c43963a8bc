/** Signals that stop a container. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";

const plain =
  "ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG USR1 USR2 VTALRM WINCH XCPU XFSZ";
const windows = ["SIGKILL", "SIGTERM"];
const belowMax = 14;
const aboveMin = 15;

/** @param os of the pod, by which the signals differ */
export function validateStopSignal(signal: string, os: Part | undefined, path: string, errors: FieldErrors): void {
  if (os === undefined) return errors.forbidden(path, "may not be set for containers with empty `spec.os.name`");
  const known = os.name === "windows" ? windows : os.name === "linux" ? linuxSignals() : undefined;
  if (known !== undefined && !known.includes(signal)) errors.notSupported(path, signal, known);
}

function linuxSignals(): string[] {
  const numbered = (count: number, name: (number: number) => string): string[] =>
    Array.from({ length: count }, (_, index) => name(index + 1));
  return [
    ...plain.split(" ").map((name) => `SIG${name}`),
    "SIGRTMAX",
    "SIGRTMIN",
    ...numbered(belowMax, (number) => `SIGRTMAX-${number}`),
    ...numbered(aboveMin, (number) => `SIGRTMIN+${number}`),
  ].sort();
}
