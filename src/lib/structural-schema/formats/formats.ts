/**
 * The string formats that validation checks. Source: k8s.io/kube-openapi pkg/validation/strfmt;
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/validation/formats.go
 */
import { findRequestUri } from "../../go-net/go-url.ts";
import { trimOf } from "../../text/trim.ts";
import { isCidr, isHostname, isIpv4Format, isIpv6Format, isMac } from "./addresses.ts";
import { isEmail } from "./email.ts";
import { isCreditCard, isIsbn10, isIsbn13, isSsn } from "./identification-numbers.ts";
import { isDate, isDateTime, isDuration } from "./times.ts";

const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const uuid3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const uuid4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const uuid5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const shade = /^(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])$/;
const shortName = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?$/;

const hasBase64Form = (text: string): boolean =>
  text !== "" && text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

/** Whether the text is a color such as `rgb(0, 128, 255)`. */
function isRgbColor(text: string): boolean {
  if (!text.startsWith("rgb(") || !text.endsWith(")")) return false;
  const shades = text.slice("rgb(".length, -1).split(",", 4);
  return shades.length === 3 && shades.every((one) => shade.test(trimOf(one, "\t\n\f\r ")));
}

/** By name, without dashes. */
const formats: ReadonlyMap<string, (text: string) => boolean> = new Map([
  ["bsonobjectid", (text) => /^[0-9a-fA-F]{24}$/.test(text)],
  ["byte", hasBase64Form],
  ["cidr", isCidr],
  ["creditcard", isCreditCard],
  ["date", isDate],
  ["datetime", isDateTime],
  ["duration", isDuration],
  ["email", isEmail],
  ["hexcolor", (text) => /^#?(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(text)],
  ["hostname", isHostname],
  ["ipv4", isIpv4Format],
  ["ipv6", isIpv6Format],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["k8slongname", (text) => text.length <= 253 && text.split(".").every((part) => shortName.test(part))],
  ["k8sshortname", (text) => text.length <= 63 && shortName.test(text)],
  ["mac", isMac],
  ["password", () => true],
  ["rgbcolor", isRgbColor],
  ["ssn", isSsn],
  ["uri", (text) => findRequestUri(text) !== undefined],
  ["uuid", (text) => uuid.test(text)],
  ["uuid3", (text) => uuid3.test(text)],
  ["uuid4", (text) => uuid4.test(text)],
  ["uuid5", (text) => uuid5.test(text)],
]);

/**
 * Finds the check of a format.
 * @returns undefined when the format is not supported
 */
export function findFormat(name: string): ((text: string) => boolean) | undefined {
  return formats.get(name.replaceAll("-", ""));
}

/**
 * Whether a format applies to values of a type. Other formats are ignored, with a warning to the
 * client.
 */
export function isSupportedFormat(format: string, type: string): boolean {
  switch (type) {
    case "":
    case "string":
      return findFormat(format) !== undefined;
    case "integer":
      return format === "int32" || format === "int64";
    case "number":
      return format === "float" || format === "double";
    default:
      return false;
  }
}
