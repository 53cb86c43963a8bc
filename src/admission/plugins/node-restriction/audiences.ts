/**
 * Which audiences a node may ask tokens for: those of the pod's projected tokens, those of the CSI drivers behind its volumes, and those that
 * authorization allows by the verb `request-serviceaccounts-token-audience`.
 */
import type { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { joinErrors, quoteGo } from "../../../lib/json/quote.ts";
import { refusal } from "../../refusal.ts";
import type { FindObject, LookedUpKind, NodeWrite } from "./contract.ts";
import { absent } from "./find-object.ts";

// biome-ignore lint/suspicious/noExplicitAny: the schema has checked the types.
type Part = Record<string, any>;

/** @param audiences none for the server's own @throws ApiError 403 */
export async function checkAudience(write: NodeWrite, audiences: readonly string[], pod: KubeObject): Promise<void> {
  const { attributes, find, needs } = write;
  if (audiences.length > 1) throw refusal(attributes, "node may only request 0 or 1 audiences");
  const [audience = ""] = audiences;
  const named = await namesAudience(find, pod, audience);
  if (named === true) return;
  if (named.length > 0)
    throw refusal(attributes, `error validating audience ${quoteGo(audience)}: ${joinErrors(named)}`);
  const { decision } = await needs.authorize(question(write, audience));
  if (decision === "allow") return;
  const why = `audience ${quoteGo(audience)} not found in pod spec volume, ${attributes.user.name} is not authorized to request tokens for this audience`;
  throw refusal(attributes, why);
}

function question(
  { attributes: { user, namespace, name } }: NodeWrite,
  audience: string,
): Parameters<NodeWrite["needs"]["authorize"]>[0] {
  const nothing = { path: "", subresource: "", fieldSelector: "", labelSelector: "" };
  return {
    ...nothing,
    user,
    verb: "request-serviceaccounts-token-audience",
    isResourceRequest: true,
    group: "",
    version: "v1",
    resource: audience,
    namespace,
    name,
  };
}

/** @returns what stood in the way where no volume names it */
async function namesAudience(find: FindObject, pod: KubeObject, audience: string): Promise<true | string[]> {
  const problems: string[] = [];
  for (const volume of pod.spec?.volumes ?? []) {
    if (projectedAudiences(volume).includes(audience)) return true;
    const result = await driverNamesAudience(find, pod, volume, audience);
    if (result === true) return true;
    if (result !== false) problems.push(result.message);
  }
  return problems;
}

function projectedAudiences(volume: Part): string[] {
  const sources: Part[] = volume.projected?.sources ?? [];
  return sources.flatMap(({ serviceAccountToken: token }) => (token === undefined ? [] : [token.audience ?? ""]));
}

async function driverNamesAudience(
  find: FindObject,
  pod: KubeObject,
  volume: Part,
  audience: string,
): Promise<boolean | ApiError> {
  const driver = await driverOfVolume(find, pod, volume);
  if (driver === "") return false;
  if (typeof driver !== "string") return driver;
  const object = await found(find, "csidriver", "", driver);
  if (object instanceof Error) return object;
  return (object.spec?.tokenRequests ?? []).some((request: Part) => (request.audience ?? "") === audience);
}

/** Volumes that were there before CSI, and the drivers that took them over. */
const migrated: readonly (readonly [source: string, driver: string])[] = [
  ["awsElasticBlockStore", "ebs.csi.aws.com"],
  ["azureDisk", "disk.csi.azure.com"],
  ["azureFile", "file.csi.azure.com"],
  ["cinder", "cinder.csi.openstack.org"],
  ["gcePersistentDisk", "pd.csi.storage.gke.io"],
  ["portworxVolume", "pxd.portworx.com"],
  ["vsphereVolume", "csi.vsphere.vmware.com"],
];

function driverOfSource(source: Part): string {
  return source.csi?.driver ?? migrated.find(([name]) => source[name] !== undefined)?.[1] ?? "";
}

/** @returns empty when no CSI driver is behind it */
async function driverOfVolume(find: FindObject, { metadata }: KubeObject, volume: Part): Promise<string | ApiError> {
  const { name = "", namespace = "" } = metadata;
  const claim =
    volume.ephemeral?.volumeClaimTemplate === undefined
      ? volume.persistentVolumeClaim?.claimName
      : `${name}-${volume.name}`;
  return claim === undefined ? driverOfSource(volume) : driverOfClaim(find, namespace, claim);
}

async function driverOfClaim(find: FindObject, namespace: string, name: string): Promise<string | ApiError> {
  const claim = await found(find, "persistentvolumeclaim", namespace, name);
  if (claim instanceof Error) return claim;
  const volume = await found(find, "persistentvolume", "", claim.spec?.volumeName ?? "");
  return volume instanceof Error ? volume : driverOfSource(volume.spec ?? {});
}

async function found(
  find: FindObject,
  kind: LookedUpKind,
  namespace: string,
  name: string,
): Promise<KubeObject | ApiError> {
  return (await find(kind, namespace, name)) ?? absent(kind, name);
}
