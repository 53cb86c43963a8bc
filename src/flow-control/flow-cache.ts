/** The flows of one flow schema, so that a flow is hashed once. */
import type { Flow } from "../lib/fair-queuing/contract.ts";
import { flowHash } from "../lib/fair-queuing/flow-hash.ts";
import type { SchemaObserver } from "./contract.ts";

/** A flow, with the observer of its flow schema. */
export interface ObservedFlow extends Flow {
  readonly observer: SchemaObserver;
}

/** Flows that are kept; beyond it, the oldest is forgotten. */
const flowsMax = 1_000;
/** Flows with longer names are not kept. */
const distinguisherMax = 256;

/** Keeps the flows of a flow schema. */
export class FlowCache {
  readonly observer: SchemaObserver;
  readonly #schema: string;
  readonly #flows = new Map<string, ObservedFlow>();

  constructor(schema: string, observer: SchemaObserver) {
    this.#schema = schema;
    this.observer = observer;
  }

  get(distinguisher: string): ObservedFlow {
    const known = this.#flows.get(distinguisher);
    if (known !== undefined) return known;
    const hash = flowHash(this.#schema, distinguisher);
    const flow = { schema: this.#schema, distinguisher, hash, observer: this.observer };
    if (distinguisher.length > distinguisherMax) return flow;
    if (this.#flows.size >= flowsMax) this.#flows.delete(this.#flows.keys().next().value as string);
    this.#flows.set(distinguisher, flow);
    return flow;
  }
}
