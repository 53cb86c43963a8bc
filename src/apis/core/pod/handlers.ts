/**
 * Validation of the probes and lifecycle hooks of containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { portNameProblems, portNumberProblems } from "../../../lib/names/names.ts";
import { checkNonNegative, items, type Part } from "../../fields.ts";
import { validateStopSignal } from "./stop-signals.ts";

const probeHandlers = ["exec", "httpGet", "tcpSocket", "grpc"] as const;
const hookHandlers = ["exec", "httpGet", "tcpSocket", "sleep"] as const;

type HandlerField = (typeof probeHandlers)[number] | (typeof hookHandlers)[number];

/** `terminationGracePeriodSeconds` of the pod. */
type GracePeriod = number | undefined;

/** Probes of containers that keep running: all except regular init containers. */
export function validateProbes(
  { livenessProbe, readinessProbe, startupProbe }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (livenessProbe) validateRestartingProbe(livenessProbe, `${path}.livenessProbe`, errors);
  if (readinessProbe) validateReadinessProbe(readinessProbe, `${path}.readinessProbe`, errors);
  if (startupProbe) validateRestartingProbe(startupProbe, `${path}.startupProbe`, errors);
}

/** Liveness and startup probes must have a success threshold of 1. */
function validateRestartingProbe(probe: Part, path: string, errors: FieldErrors): void {
  validateProbe(probe, path, errors);
  const { successThreshold = 0 } = probe;
  if (successThreshold !== 1) errors.invalid(`${path}.successThreshold`, successThreshold, "must be 1");
}

function validateReadinessProbe(probe: Part, path: string, errors: FieldErrors): void {
  validateProbe(probe, path, errors);
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds !== undefined)
    errors.invalid(`${path}.terminationGracePeriodSeconds`, seconds, "must not be set for readinessProbes");
}

const nonNegativeFields = [
  "initialDelaySeconds",
  "timeoutSeconds",
  "periodSeconds",
  "successThreshold",
  "failureThreshold",
];

function validateProbe(probe: Part, path: string, errors: FieldErrors): void {
  validateHandler(probe, probeHandlers, path, undefined, errors);
  for (const field of nonNegativeFields)
    if (probe[field] < 0) checkNonNegative(probe[field], `${path}.${field}`, errors);
  const { terminationGracePeriodSeconds: seconds } = probe;
  if (seconds <= 0) errors.invalid(`${path}.terminationGracePeriodSeconds`, seconds, "must be greater than 0");
}

/** @param os of the pod */
export function validateLifecycle(
  lifecycle: Part,
  path: string,
  gracePeriod: GracePeriod,
  os: Part | undefined,
  errors: FieldErrors,
): void {
  for (const hook of ["postStart", "preStop"]) {
    if (lifecycle[hook]) validateHandler(lifecycle[hook], hookHandlers, `${path}.${hook}`, gracePeriod, errors);
  }
  if (lifecycle.stopSignal !== undefined) validateStopSignal(lifecycle.stopSignal, os, `${path}.stopSignal`, errors);
}

function validateHandler(
  handler: Part,
  fields: readonly HandlerField[],
  path: string,
  gracePeriod: GracePeriod,
  errors: FieldErrors,
): void {
  let found = false;
  for (const field of fields) {
    const action = handler[field];
    if (action === undefined) continue;
    if (found) errors.forbidden(`${path}.${field}`, "may not specify more than 1 handler type");
    else validateAction(field, action, `${path}.${field}`, gracePeriod, errors);
    found = true;
  }
  if (!found) errors.required(path, "must specify a handler type");
}

function validateAction(
  field: HandlerField,
  action: Part,
  path: string,
  gracePeriod: GracePeriod,
  errors: FieldErrors,
): void {
  if (field === "exec") {
    if (items(action.command).length === 0) errors.required(`${path}.command`);
  } else if (field === "httpGet") validateHttpGet(action, path, errors);
  else if (field === "tcpSocket") validatePortOrName(action.port ?? 0, `${path}.port`, errors);
  else if (field === "grpc") addInvalid(errors, `${path}.port`, action.port ?? 0, portNumberProblems(action.port ?? 0));
  else validateSleep(action.seconds ?? 0, path, gracePeriod, errors);
}

function validateSleep(seconds: number, path: string, gracePeriod: GracePeriod, errors: FieldErrors): void {
  if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return;
  errors.invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`);
}

const schemes = ["HTTP", "HTTPS"];
const headerNameText = "a valid HTTP header must consist of alphanumeric characters or '-'";
const headerName = "[-A-Za-z0-9]+";

function validateHttpGet(
  { path: url = "", port = 0, scheme = "", httpHeaders }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (url === "") errors.required(`${path}.path`);
  validatePortOrName(port, `${path}.port`, errors);
  if (!schemes.includes(scheme)) errors.notSupported(`${path}.scheme`, scheme, schemes);
  for (const { name = "" } of items(httpHeaders)) {
    if (/^[-A-Za-z0-9]+$/.test(name)) continue;
    errors.invalid(
      `${path}.httpHeaders`,
      name,
      `${headerNameText} (e.g. 'X-Header-Name', regex used for validation is '${headerName}')`,
    );
  }
}

/** A number, or the name of a port of the container. */
function validatePortOrName(port: number | string, path: string, errors: FieldErrors): void {
  addInvalid(errors, path, port, typeof port === "string" ? portNameProblems(port) : portNumberProblems(port));
}
