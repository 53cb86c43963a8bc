/**
 * Validates `--requestheader-*`, with upstream's messages.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/options/authentication.go.
 */
import { quoteGo } from "../lib/json/quote.ts";
import type { RequestHeaderOptions } from "./contract.ts";

/**
 * @param uids the gate RemoteRequestHeaderUID
 * @returns warnings
 * @throws Error for invalid options
 */
export function checkRequestHeaderOptions(
  options: RequestHeaderOptions,
  { uids }: { readonly uids: boolean },
): readonly string[] {
  const { usernameHeaders, groupHeaders, extraHeaderPrefixes, allowedNames, uidHeaders } = options;
  checkNoEmpty("requestheader-username-headers", usernameHeaders);
  checkNoEmpty("requestheader-group-headers", groupHeaders);
  checkNoEmpty("requestheader-extra-headers-prefix", extraHeaderPrefixes);
  checkNoEmpty("requestheader-allowed-names", allowedNames);
  if (!uids && uidHeaders.length > 0)
    throw new Error('--requestheader-uid-headers requires the "RemoteRequestHeaderUID" feature to be enabled');
  checkNoEmpty("requestheader-uid-headers", uidHeaders);
  if (lacks(uidHeaders, "X-Remote-Uid")) throw new Error(withoutStandard("uid-headers", "X-Remote-Uid header"));
  return [
    ...(lacks(usernameHeaders, "X-Remote-User") ? [withoutStandard("username-headers", "X-Remote-User header")] : []),
    ...(lacks(groupHeaders, "X-Remote-Group") ? [withoutStandard("group-headers", "X-Remote-Group header")] : []),
    ...(lacks(extraHeaderPrefixes, "X-Remote-Extra-")
      ? [withoutStandard("extra-headers-prefix", "X-Remote-Extra- header prefix")]
      : []),
  ];
}

function checkNoEmpty(flag: string, values: readonly string[]): void {
  if (values.some((value) => value.trim() === "")) throw new Error(`empty value in ${quoteGo(flag)}`);
}

function lacks(headers: readonly string[], standard: string): boolean {
  return headers.length > 0 && !headers.some((header) => header.toLowerCase() === standard.toLowerCase());
}

function withoutStandard(flag: string, what: string): string {
  return `--requestheader-${flag} is set without specifying the standard ${what} - API aggregation will not work`;
}
