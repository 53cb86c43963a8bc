/** Files in volumes of which one would hide the other. */
import { quoteGo } from "../../../lib/json/quote.ts";
import { items, type Part } from "../../fields.ts";

interface PlacedFile {
  readonly path: string;
  /** Empty where there is one source alone. */
  readonly source: string;
}

/** Told at most. */
const overlapsMax = 1000;

/** @param warnings gets one for each file that is within another, or the same */
export function warnOfOverlaps(volumes: readonly Part[], warnings: string[]): void {
  const end = warnings.length + overlapsMax;
  for (const { name = "", configMap, secret, downwardAPI, projected } of volumes) {
    if (configMap?.items)
      warnings.push(...ofFiles(name, `ConfigMap ${quoteGo(configMap.name ?? "")}`, configMap.items));
    if (secret?.items) warnings.push(...ofFiles(name, `Secret ${quoteGo(secret.secretName ?? "")}`, secret.items));
    if (downwardAPI?.items) warnings.push(...ofFiles(name, "DownwardAPI", downwardAPI.items));
    if (projected) warnings.push(...ofProjected(name, items(projected.sources)));
    if (warnings.length < end) continue;
    warnings.length = end;
    return;
  }
}

function ofFiles(volume: string, what: string, files: unknown): string[] {
  const taken: PlacedFile[] = [];
  return filesOf(files, "").flatMap((file) => take(file, taken, told(volume, what)));
}

const told = (volume: string, what: string): string => `volume ${quoteGo(volume)} (${what}): overlapping paths:`;

function filesOf(files: unknown, source: string): PlacedFile[] {
  return items(files).map(({ path = "" }) => ({ path, source }));
}

function ofProjected(volume: string, sources: readonly Part[]): string[] {
  const taken: PlacedFile[] = [];
  return sources.flatMap((source) => {
    if (Object.values(source).every((value) => value === undefined))
      return [`volume ${quoteGo(volume)} (Projected) has no sources provided`];
    return projectedFiles(source).flatMap((file) => take(file, taken, told(volume, "Projected")));
  });
}

/** The first of the sources that says its files. */
function projectedFiles({
  configMap,
  secret,
  downwardAPI,
  serviceAccountToken,
  clusterTrustBundle,
  podCertificate,
}: Part): PlacedFile[] {
  if (configMap?.items) return filesOf(configMap.items, `ConfigMap ${quoteGo(configMap.name ?? "")}`);
  if (secret?.items) return filesOf(secret.items, `Secret ${quoteGo(secret.name ?? "")}`);
  if (downwardAPI?.items) return filesOf(downwardAPI.items, "DownwardAPI");
  if (serviceAccountToken) return [{ path: serviceAccountToken.path ?? "", source: "ServiceAccountToken" }];
  if (clusterTrustBundle) {
    const { name, signerName = "", path = "" } = clusterTrustBundle;
    return [{ path, source: `ClusterTrustBundle ${quoteGo(name ?? signerName)}` }];
  }
  const { certificateChainPath = "", keyPath = "", credentialBundlePath = "" } = podCertificate ?? {};
  return [
    { path: certificateChainPath, source: "PodCertificate chain" },
    { path: keyPath, source: "PodCertificate key" },
    { path: credentialBundlePath, source: "PodCertificate credential bundle" },
  ].filter(({ path }) => path !== "");
}

/** Files of one volume that are compared with each other; those that follow are not looked at. */
const filesMax = 200;

/** @returns a warning for each file that is taken already */
function take({ path: given, source }: PlacedFile, taken: PlacedFile[], what: string): string[] {
  const file = { path: withoutSlashes(given), source };
  if (file.path === "" || taken.length >= filesMax) return [];
  const others = taken.filter(({ path }) => isWithin(file.path, path) || isWithin(path, file.path));
  taken.push(file);
  return others.map((other) => `${what} ${shown(file)} with ${shown(other)}`);
}

function withoutSlashes(path: string): string {
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return path.slice(0, end);
}

const isWithin = (inner: string, outer: string): boolean =>
  inner.startsWith(outer) && (inner.length === outer.length || inner[outer.length] === "/");

const shown = ({ path, source }: PlacedFile): string =>
  source === "" ? quoteGo(path) : `${quoteGo(path)} (${source})`;
