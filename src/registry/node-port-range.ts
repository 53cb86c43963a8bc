/**
 * The node ports in use, which all servers over one store share: a RangeAllocation, which is not an
 * object of the API.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/allocator/storage/storage.go.
 */
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import { PortBitmap } from "../lib/ip-range/port-bitmap.ts";
import { formatPortRange, parsePortRange } from "../lib/ip-range/port-range.ts";
import { decodeProtobuf } from "../lib/protobuf/decode.ts";
import { hasMagic, readEnvelope } from "../lib/protobuf/envelope.ts";
import { decodeYaml } from "../lib/yaml/decode.ts";
import { DamagedRecord, type DerivedValue, type Stored } from "../storage/contract.ts";
import type { RegistryContext } from "./contract.ts";
import { encodeShared } from "./shared-encoding.ts";

/** The key of the ports in use. */
export const nodePortsKey = "/registry/ranges/servicenodeports";
/** The name of the values in errors. */
export const nodePortsResource = "servicenodeportallocations";

interface RangeAllocation {
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly range?: string;
  /** In base64. */
  readonly data?: string | null;
}

/**
 * Decodes the ports in use.
 * @throws DamagedRecord when the value cannot be read
 */
export function decodeNodePorts({ value, damage }: Stored): PortBitmap {
  if (damage !== undefined) throw new DamagedRecord(damage);
  const { range = "", data } = rangeAllocation(value);
  const parsed = parsePortRange(range);
  if (typeof parsed === "string") throw new DamagedRecord(parsed);
  return new PortBitmap(parsed, Buffer.from(data ?? "", "base64"));
}

/** @returns undefined for a damaged value, which the repair replaces */
export function readableNodePorts(stored: Stored): PortBitmap | undefined {
  try {
    return decodeNodePorts(stored);
  } catch (error) {
    if (!(error instanceof DamagedRecord)) throw error;
    return undefined;
  }
}

/** @throws DamagedRecord */
function rangeAllocation(value: Buffer): RangeAllocation {
  try {
    if (!hasMagic(value)) return decodeYaml(value).value as RangeAllocation; // JSON is YAML, too.
    return decodeProtobuf(readEnvelope(value).raw, allocationSchema()) as RangeAllocation;
  } catch (error) {
    throw new DamagedRecord(`${nodePortsKey}: ${String(error)}`);
  }
}

/** Encodes the ports in use as JSON, and for a shared store as its built-in objects. */
export function encodeNodePorts(
  ports: PortBitmap,
  { sharedEncoding }: Pick<RegistryContext, "sharedEncoding"> = {},
): DerivedValue {
  const range = formatPortRange(ports.range);
  const data = ports.snapshot().toString("base64");
  const object = { kind: "RangeAllocation", apiVersion: "v1", metadata: {}, range, data };
  const value = Buffer.from(JSON.stringify(object));
  const form = { group: "", version: "v1", kind: "RangeAllocation", schema: allocationSchema() };
  const shared = sharedEncoding && encodeShared(sharedEncoding, form, object, value);
  return { value, ...(shared !== undefined && { shared }) };
}

const allocationSchema = (): ReturnType<typeof builtinSchema> => builtinSchema("io.k8s.api.core.v1.RangeAllocation");

/**
 * Reads the ports in use from the store.
 * @returns undefined when no server has stored them yet
 * @throws DamagedRecord, StorageUnavailable
 */
export async function readNodePorts({
  storage,
}: Pick<RegistryContext, "storage">): Promise<{ readonly ports: PortBitmap; readonly revision: number } | undefined> {
  const stored = await storage.get(nodePortsKey);
  return stored && { ports: decodeNodePorts(stored), revision: stored.revision };
}
