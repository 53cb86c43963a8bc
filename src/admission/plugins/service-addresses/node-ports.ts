/**
 * Finds free node ports. All servers over one store share the ports in use; this one knows them as
 * of its last read or write, and each commit that takes a port checks it again.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/portallocator/allocator.go.
 */
import { candidatePorts, type PortBitmap } from "../../../lib/ip-range/port-bitmap.ts";
import { formatPortRange, type PortRange } from "../../../lib/ip-range/port-range.ts";
import type { RegistryContext } from "../../../registry/contract.ts";
import { type DerivedValue, type DerivedWrite, JointConflict, type Stored } from "../../../registry/joint-change.ts";
import {
  encodeNodePorts,
  nodePortsKey,
  nodePortsResource,
  readableNodePorts,
} from "../../../registry/node-port-range.ts";
import type { RangeUse } from "../../contract.ts";

/** Ports that a write takes and gives back. */
export interface PortChange {
  readonly taken: readonly number[];
  readonly released: readonly number[];
}

/** The node ports of `--service-node-port-range`. */
export interface NodePorts {
  readonly range: PortRange;
  /** Reads the ports in use, at the first call. */
  ready(): Promise<void>;
  /** Reads the ports in use again. */
  refresh(): Promise<void>;
  /** Why no port can be allocated now; undefined when ports can be. */
  problem(): string | undefined;
  isTaken(port: number): boolean;
  /**
   * @param isTaken whether a port cannot be used
   * @returns undefined when no port is free
   */
  findFree(isTaken: (port: number) => boolean): number | undefined;
  /** Keeps other requests of this server from taking the port before it is stored. */
  reserve(port: number): void;
  release(port: number): void;
  /** As of the last read or write; undefined before. */
  use(): RangeUse | undefined;
  /** The change of the stored value; its `derive` throws JointConflict when a port is taken. */
  change(change: PortChange): DerivedWrite;
}

/** @param registry exists when the first request arrives */
export function openNodePorts(registry: () => RegistryContext, range: PortRange): NodePorts {
  const reserved = new Set<number>();
  let known: PortBitmap | undefined;
  let isRead = false;
  const refresh = async (): Promise<void> => {
    const stored = await registry().storage.get(nodePortsKey);
    known = stored && readableNodePorts(stored);
    isRead = true;
  };
  const below = (limit: number): number => registry().random(4).readUInt32LE() % limit;
  const derive = (newest: Stored | undefined, { taken, released }: PortChange): DerivedValue | undefined => {
    known = newest && readableNodePorts(newest);
    const isPossible = isSame(known?.range, range) && !taken.some((port) => known?.has(port));
    if (!isPossible && taken.length > 0) throw new JointConflict(nodePortsKey);
    if (known === undefined || !isPossible) return undefined;
    for (const port of released) known.delete(port);
    for (const port of taken) known.add(port);
    return encodeNodePorts(known, registry());
  };
  return {
    range,
    ready: async () => {
      if (!isRead) await refresh();
    },
    refresh,
    problem() {
      if (known === undefined) return `cannot allocate resources of type ${nodePortsResource} at this time`;
      return isSame(known.range, range) ? undefined : "the provided range does not match the current range";
    },
    isTaken: (port) => reserved.has(port) || known?.has(port) === true,
    findFree(isUnusable) {
      for (const port of candidatePorts(range, below)) if (!isUnusable(port)) return port;
      return undefined;
    },
    reserve: (port) => void reserved.add(port),
    release: (port) => void reserved.delete(port),
    use() {
      if (known === undefined) return undefined;
      const allocated = [...known].length;
      return { allocated, available: known.range.last - known.range.first + 1 - allocated };
    },
    change: (change) => ({ key: nodePortsKey, derive: (newest) => derive(newest, change) }),
  };
}

function isSame(one: PortRange | undefined, other: PortRange): boolean {
  return one !== undefined && formatPortRange(one) === formatPortRange(other);
}
