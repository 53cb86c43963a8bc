/**
 * Validation of iSCSI sources and names.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";

export function validateIscsi(source: Part, path: string, errors: FieldErrors): void {
  const { targetPortal = "", iqn = "", lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source;
  if (targetPortal === "") errors.required(`${path}.targetPortal`);
  if (iqn === "") errors.required(`${path}.iqn`);
  else checkName(iqn, `${path}.iqn`, errors);
  if (lun < 0 || lun > 255) errors.invalid(`${path}.lun`, lun, "must be between 0 and 255, inclusive");
  if ((chapAuthDiscovery === true || chapAuthSession === true) && !secretRef) errors.required(`${path}.secretRef`);
  if (initiatorName !== undefined) checkName(initiatorName, `${path}.initiatorname`, errors);
}

const portalBytesMax = 64;
/** The error for a portal that is too long. */
export const longPortal =
  "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.";

/** Whether both together are too long for a source with an initiator name. */
export function isLongPortal(volume: string, targetPortal: string): boolean {
  return Buffer.byteLength(`${volume}:${targetPortal}`) > portalBytesMax;
}

function checkName(name: string, path: string, errors: FieldErrors): void {
  if (!/^(iqn|eui|naa)/.test(name)) errors.invalid(path, name, "must be valid format starting with iqn, eui, or naa");
  else if (!isIscsiName(name)) errors.invalid(path, name, "must be valid format");
}

/** @param name begins with `iqn`, `eui` or `naa` */
export function isIscsiName(name: string): boolean {
  if (name.startsWith("iqn")) return endsInQualifiedName(name);
  return /^eui.[0-9A-Za-z]{16}$/u.test(name) || /^naa.[0-9A-Za-z]{32}$/u.test(name);
}

/**
 * Whether the text ends in a name such as `iqn.2001-04.com.example:disk`.
 * Any colon after the last excluded character may end the naming authority.
 */
function endsInQualifiedName(text: string): boolean {
  const excluded = /[,;*&$|\t\n\f\r ]/g;
  let from = 0;
  for (const match of text.matchAll(excluded)) from = match.index + 1;
  for (
    let colon = text.indexOf(":", from);
    colon >= 0 && colon < text.length - 1;
    colon = text.indexOf(":", colon + 1)
  ) {
    if (endsInAuthority(text, colon)) return true;
  }
  return false;
}

/** Whether a date and a naming authority end at the colon. */
function endsInAuthority(text: string, colon: number): boolean {
  let start = colon;
  while (start > 0 && /[0-9A-Za-z.-]/.test(text[start - 1] as string)) start--;
  return /iqn\.[0-9]{4}-[0-9]{2}\../.test(text.slice(start, colon));
}
