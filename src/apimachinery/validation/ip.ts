/**
 * Validates fields with IP addresses and prefixes, and warns about text in non-canonical form.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/util/validation/ip.go.
 */
import {
  canonicalIp,
  canonicalPrefix,
  type IpAddress,
  type IpPrefix,
  isCanonicalIp,
  networkOf,
  parseIp,
  parsePrefix,
  specialIp,
} from "../../lib/ip-range/ip-address.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { FieldErrors } from "../field-errors.ts";

/** How legacy fields are validated. */
export interface LegacyIpOptions {
  /** The feature gate `StrictIPCIDRValidation`, which rejects leading zeros and similar forms. */
  readonly strict: boolean;
  /** The values of the old object, which stay valid. */
  readonly old?: readonly string[] | undefined;
}

const invalidIp = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
const invalidPrefix = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

/**
 * Validates a legacy field, which accepts addresses in non-canonical form.
 *
 * @returns whether the value is valid
 */
export function validateLegacyIp(
  value: string,
  path: string,
  { strict, old }: LegacyIpOptions,
  errors: FieldErrors,
): boolean {
  if (old?.includes(value)) return true;
  return parseValidIp(value, path, strict, errors) !== undefined;
}

function parseValidIp(value: string, path: string, strict: boolean, errors: FieldErrors): IpAddress | undefined {
  const address = parseIp(value);
  const problem = addressProblem(address, strict);
  if (problem !== undefined) errors.invalid(path, value, problem);
  return problem === undefined ? address : undefined;
}

function addressProblem(address: IpAddress | undefined, strict: boolean): string | undefined {
  if (address === undefined) return invalidIp;
  if (strict && address.leadingZeros) return "must not have leading 0s";
  return strict && address.mapped ? "must not be an IPv4-mapped IPv6 address" : undefined;
}

/** Validates a field that accepts addresses only in canonical form. */
export function validateIp(value: string, path: string, errors: FieldErrors): void {
  for (const problem of ipProblems(value)) errors.invalid(path, value, problem);
}

/** @returns why the text is not an address in canonical form; empty if it is */
export function ipProblems(value: string): string[] {
  const address = parseIp(value);
  const problem = addressProblem(address, true);
  if (address === undefined || problem !== undefined) return [problem ?? invalidIp];
  return isCanonicalIp(value, address) ? [] : [`must be in canonical form (${quoteGo(canonicalIp(address))})`];
}

/**
 * Validates a legacy field, which accepts prefixes in non-canonical form.
 *
 * @returns whether the value is valid
 */
export function validateLegacyPrefix(
  value: string,
  path: string,
  { strict, old }: LegacyIpOptions,
  errors: FieldErrors,
): boolean {
  if (old?.includes(value)) return true;
  return parseValidPrefix(value, path, strict, errors) !== undefined;
}

function parseValidPrefix(value: string, path: string, strict: boolean, errors: FieldErrors): IpPrefix | undefined {
  const prefix = parsePrefix(value);
  if (prefix === undefined) errors.invalid(path, value, invalidPrefix);
  else if (strict && prefix.leadingZeros)
    errors.invalid(path, value, "must not have leading 0s in IP or prefix length");
  else if (strict && prefix.address.mapped) errors.invalid(path, value, "must not have an IPv4-mapped IPv6 address");
  else if (strict && networkOf(prefix).value !== prefix.address.value)
    errors.invalid(path, value, "must not have bits set beyond the prefix length");
  else return prefix;
  return undefined;
}

/** Validates a field that accepts prefixes only in canonical form. */
export function validatePrefix(value: string, path: string, errors: FieldErrors): void {
  const prefix = parseValidPrefix(value, path, true, errors);
  if (prefix === undefined) return;
  const canonical = canonicalPrefix(prefix);
  if (canonical !== value) errors.invalid(path, value, `must be in canonical form (${quoteGo(canonical)})`);
}

/**
 * Validates an address of an endpoint or an external address of a service, which must not be
 * unspecified, loopback or link-local.
 */
export function validateEndpointIp(value: string, path: string, errors: FieldErrors): void {
  const address = parseIp(value);
  if (address === undefined) return errors.invalid(path, value, "must be a valid IP address");
  const { unspecified, loopback, linkLocalUnicast, linkLocalMulticast } = specialIp(address);
  if (unspecified) errors.invalid(path, value, `may not be unspecified (${value})`);
  if (loopback) errors.invalid(path, value, "may not be in the loopback range (127.0.0.0/8, ::1/128)");
  if (linkLocalUnicast) errors.invalid(path, value, "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
  if (linkLocalMulticast)
    errors.invalid(path, value, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

/** Adds a warning for an address in non-canonical form. Text that is not an address is ignored. */
export function warnOfIp(value: string, path: string, warnings: string[]): void {
  const address = parseIp(value);
  if (address === undefined || isCanonicalIp(value, address)) return;
  const canonical = quoteGo(canonicalIp(address));
  if (address.leadingZeros || address.mapped)
    warnings.push(`${path}: non-standard IP address ${quoteGo(value)} is invalid: use ${canonical}`);
  else warnings.push(`${path}: IPv6 address ${quoteGo(value)} should be in RFC 5952 canonical format (${canonical})`);
}

/** Adds a warning for a prefix in non-canonical form. Text that is not a prefix is ignored. */
export function warnOfPrefix(value: string, path: string, warnings: string[]): void {
  const prefix = parsePrefix(value);
  if (prefix === undefined) return;
  const canonical = canonicalPrefix(prefix);
  if (canonical === value && !prefix.address.mapped) return;
  const { address } = prefix;
  const isAmbiguous = networkOf(prefix).value !== address.value;
  if (isAmbiguous) {
    const alone = `${canonicalIp(address)}/${address.width}`;
    warnings.push(
      `${path}: CIDR value ${quoteGo(value)} is ambiguous in this context (should be ${quoteGo(canonical)} or ${quoteGo(alone)}?)`,
    );
  }
  if (prefix.leadingZeros || address.mapped) {
    warnings.push(`${path}: non-standard CIDR value ${quoteGo(value)} is invalid: use ${quoteGo(canonical)}`);
  } else if (!isAmbiguous) {
    warnings.push(
      `${path}: IPv6 CIDR value ${quoteGo(value)} should be in RFC 5952 canonical format (${quoteGo(canonical)})`,
    );
  }
}
