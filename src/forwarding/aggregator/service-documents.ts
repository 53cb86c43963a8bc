/** The documents of a server, shared by all APIServices that name its Service. */
import type { ServiceReference } from "./contract.ts";

interface Shared<Document> {
  users: number;
  document: Document | undefined;
}

/**
 * The last document of each Service that an APIService uses. Many APIServices share one Service, so
 * that what is fetched and kept must not grow with their product.
 */
export class ServiceDocuments<Document> {
  readonly #byService = new Map<string, Shared<Document>>();
  /** The Service of each user, by any name of the user. */
  readonly #serviceOf = new Map<string, string>();

  /** @returns the last document of the Service */
  get(service: ServiceReference): Document | undefined {
    return this.#byService.get(serviceKey(service))?.document;
  }

  /** Replaces the document of a Service that has a user. */
  set(service: ServiceReference, document: Document): void {
    const shared = this.#byService.get(serviceKey(service));
    if (shared !== undefined) shared.document = document;
  }

  /** Notes the Service that a user has now; the document of its last one is forgotten with its last user. */
  use(user: string, service: ServiceReference): void {
    const key = serviceKey(service);
    if (this.#serviceOf.get(user) === key) return;
    this.forget(user);
    this.#serviceOf.set(user, key);
    const shared = this.#byService.get(key);
    if (shared === undefined) this.#byService.set(key, { users: 1, document: undefined });
    else shared.users += 1;
  }

  /** A user has no Service any more. */
  forget(user: string): void {
    const key = this.#serviceOf.get(user);
    if (key === undefined) return;
    this.#serviceOf.delete(user);
    const shared = this.#byService.get(key) as Shared<Document>;
    shared.users -= 1;
    if (shared.users === 0) this.#byService.delete(key);
  }
}

/** Equal for references to the same port of the same Service. */
export function serviceKey({ namespace, name, port }: ServiceReference): string {
  return `${namespace}/${name}:${port}`;
}
