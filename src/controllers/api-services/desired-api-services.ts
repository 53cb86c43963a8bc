/** The APIServices that this server registers for the group versions that it serves. */
import { type ApiServicePriority, builtinPriority, customPriority } from "../../catalog/api-service-priorities.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { DefinedVersions } from "../crd/contract.ts";

/** The label that says whether a server manages an APIService, and how. */
export const managedLabel = "kube-aggregator.kubernetes.io/automanaged";

/** An APIService to register. */
export interface DesiredApiService extends ApiServicePriority {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  /**
   * The value of {@link managedLabel}: `onstart` to write it once, `true` to keep it.
   */
  readonly managed: "onstart" | "true";
}

/** The group versions of built-in resources. Versions without a priority have no APIService. */
export function builtinApiServices(catalog: Catalog): DesiredApiService[] {
  const found = new Map<string, DesiredApiService>();
  for (const { custom, group, versions } of catalog.definitions()) {
    for (const { version, served } of versions) {
      const priority = custom || !served ? undefined : builtinPriority(group, version);
      const name = nameOf(group, version);
      if (priority !== undefined) found.set(name, { name, group, version, managed: "onstart", ...priority });
    }
  }
  return [...found.values()];
}

/** @returns the object to create */
export function apiServiceOf({ name, managed, ...desired }: DesiredApiService) {
  const { group, version, groupPriorityMinimum, versionPriority } = desired;
  const spec = normalized({ group, version, groupPriorityMinimum, versionPriority });
  return { kind: "APIService", metadata: { name, labels: { [managedLabel]: managed } }, spec };
}

/** The spec in the form in which it is stored: without empty fields. */
export function normalized(spec: Record<string, unknown> = {}): Record<string, unknown> {
  return Object.fromEntries(Object.entries(spec).filter(([, value]) => value !== "" && value !== undefined));
}

/** The group versions that CustomResourceDefinitions serve, whether they are established or not. */
export class DefinedApiServices implements DefinedVersions {
  /** Group versions by name of the definition. */
  readonly #versions = new Map<string, readonly DesiredApiService[]>();
  /** The number of definitions that serve a group version, by name of its APIService. */
  readonly #counts = new Map<string, number>();
  readonly #changed: (name: string) => void;
  readonly #desired = new Map<string, DesiredApiService>();

  /** @param changed called with the name of an APIService that is desired now, or not any more */
  constructor(changed: (name: string) => void) {
    this.#changed = changed;
  }

  find(name: string): DesiredApiService | undefined {
    return this.#desired.get(name);
  }

  names(): Iterable<string> {
    return this.#desired.keys();
  }

  set(definition: string, group: string, versions: readonly string[]): void {
    const next = versions.map((version) => desiredCustom(group, version));
    const old = this.#versions.get(definition) ?? [];
    this.#versions.set(definition, next);
    for (const one of next) this.#count(one, 1);
    for (const one of old) this.#count(one, -1);
  }

  remove(definition: string): void {
    const old = this.#versions.get(definition) ?? [];
    this.#versions.delete(definition);
    for (const one of old) this.#count(one, -1);
  }

  #count(one: DesiredApiService, by: 1 | -1): void {
    const count = (this.#counts.get(one.name) ?? 0) + by;
    if (count > 0) {
      this.#counts.set(one.name, count);
      this.#desired.set(one.name, one);
    } else {
      this.#counts.delete(one.name);
      this.#desired.delete(one.name);
    }
    if (by > 0 ? count === 1 : count === 0) this.#changed(one.name);
  }
}

function desiredCustom(group: string, version: string): DesiredApiService {
  return { name: nameOf(group, version), group, version, managed: "true", ...customPriority };
}

const nameOf = (group: string, version: string): string => `${version}.${group}`;
