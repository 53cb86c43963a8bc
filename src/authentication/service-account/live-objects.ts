/** The objects that tokens are bound to. Source: k8s.io/kubernetes@v1.36.0/pkg/controller/serviceaccount/tokengetter.go. */
import type { KubeObject } from "../../apimachinery/object.ts";

/** The part of an object that token checks need. */
export interface LiveObject {
  readonly uid: string;
  /** The deletionTimestamp in milliseconds since 1970; undefined without one. */
  readonly deletedAt: number | undefined;
}

/** Objects of the core group. The namespace of nodes is empty. */
export interface LiveObjects {
  /** Finds an object in the watch cache. */
  find(resource: string, namespace: string, name: string): LiveObject | undefined;
  /** Decodes an object of the watch cache. The result belongs to the caller. */
  read(resource: string, namespace: string, name: string): KubeObject | undefined;
  /** Resolves when the watch caches contain all earlier writes. */
  waitUntilCurrent(): Promise<void>;
}
