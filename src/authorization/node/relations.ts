/**
 * The objects that relate to a node: its pods, the objects that they refer to, the volumes of their
 * claims, and objects that name the node.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/auth/authorizer/node/graph.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { isMirrorPod, podReferences, type ReferredKind } from "../../apimachinery/pod-references.ts";
import { volumeSecrets } from "./volume-secrets.ts";

/** Kinds whose objects name one node. */
export type NodeBoundKind = "pod" | "volumeattachment" | "resourceslice" | "podcertificaterequest";
/** Kinds whose objects can relate to a node. */
export type RelatedKind = ReferredKind | NodeBoundKind | "persistentvolume";

interface Volume {
  readonly claim: string;
  readonly secrets: readonly string[];
}

/** The relations, maintained with each change of an object. */
export class NodeRelations {
  /** The node that an object names, by kind and key. */
  readonly #nodeOf = new Map<string, string>();
  /** The objects that each pod with a node refers to. */
  readonly #references = new Map<string, readonly string[]>();
  /** For each referenced object: the nodes, with the number of their pods that refer to it. */
  readonly #nodesOf = new Map<string, Map<string, number>>();
  readonly #volumes = new Map<string, Volume>();
  /** The names of the volumes that use a secret, by the secret. */
  readonly #volumesOf = new Map<string, Set<string>>();

  /** The number of entries in all maps. Tests use it to find leaks. */
  get size(): number {
    let size = this.#nodeOf.size + this.#references.size + this.#volumes.size;
    for (const nodes of this.#nodesOf.values()) size += nodes.size;
    for (const volumes of this.#volumesOf.values()) size += volumes.size;
    return size + this.#nodesOf.size + this.#volumesOf.size;
  }

  /** @param node empty when the object names no node or is deleted */
  setNode(kind: NodeBoundKind, namespace: string, name: string, node: string): void {
    const key = keyOf(kind, namespace, name);
    if (node === "") this.#nodeOf.delete(key);
    else this.#nodeOf.set(key, node);
  }

  /** @param pod undefined when it is deleted */
  setPod(namespace: string, name: string, pod: KubeObject | undefined): void {
    const key = keyOf("pod", namespace, name);
    const before = this.#nodeOf.get(key);
    if (before !== undefined) for (const referred of this.#references.get(key) ?? []) this.#count(referred, before, -1);
    const node: string = pod?.spec?.nodeName ?? "";
    this.setNode("pod", namespace, name, node);
    this.#references.delete(key);
    // A node creates its mirror pods itself, so their references grant nothing.
    if (pod === undefined || node === "" || isMirrorPod(pod)) return;
    const references = [
      ...new Set([...podReferences(pod)].map(([kind, referred]) => keyOf(kind, namespace, referred))),
    ];
    this.#references.set(key, references);
    for (const referred of references) this.#count(referred, node, 1);
  }

  /** @param volume undefined when it is deleted */
  setVolume(name: string, volume: KubeObject | undefined): void {
    for (const secret of this.#volumes.get(name)?.secrets ?? []) {
      const volumes = this.#volumesOf.get(secret);
      volumes?.delete(name);
      if (volumes?.size === 0) this.#volumesOf.delete(secret);
    }
    this.#volumes.delete(name);
    const claim = volume?.spec?.claimRef;
    if (volume === undefined || claim === undefined) return;
    const secrets = volumeSecrets(volume).map((secret) => keyOf("secret", secret.namespace, secret.name));
    this.#volumes.set(name, {
      claim: keyOf("persistentvolumeclaim", claim.namespace ?? "", claim.name ?? ""),
      secrets,
    });
    for (const secret of secrets) this.#volumesOf.set(secret, (this.#volumesOf.get(secret) ?? new Set()).add(name));
  }

  /** @param namespace empty for cluster-scoped kinds */
  areRelated(node: string, kind: RelatedKind, namespace: string, name: string): boolean {
    if (kind === "persistentvolume") return this.#hasVolume(node, name);
    const key = keyOf(kind, namespace, name);
    if (this.#nodeOf.get(key) === node || this.#nodesOf.get(key)?.has(node)) return true;
    for (const volume of this.#volumesOf.get(key) ?? []) if (this.#hasVolume(node, volume)) return true;
    return false;
  }

  #hasVolume(node: string, name: string): boolean {
    const volume = this.#volumes.get(name);
    return volume !== undefined && (this.#nodesOf.get(volume.claim)?.has(node) ?? false);
  }

  #count(referred: string, node: string, by: 1 | -1): void {
    const nodes = this.#nodesOf.get(referred) ?? new Map<string, number>();
    const count = (nodes.get(node) ?? 0) + by;
    if (count > 0) nodes.set(node, count);
    else nodes.delete(node);
    if (nodes.size > 0) this.#nodesOf.set(referred, nodes);
    else this.#nodesOf.delete(referred);
  }
}

function keyOf(kind: RelatedKind, namespace: string, name: string): string {
  return `${kind}/${namespace}/${name}`;
}
