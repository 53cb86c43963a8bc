/** The namespaces of tests. */
import type { TestServer } from "./contract.ts";
import { waitUntil } from "./eventually.ts";
import { expectOk } from "./expect-ok.ts";
import { releaseHeld } from "./held-objects.ts";
import type { TestScopes } from "./test-scopes.ts";
import { toolsOf } from "./tools.ts";

/** Creates namespaces that end with their tests. */
export interface TestNamespaces {
  /** @param test as for {@link TestScopes.cleanUpAfter} */
  create(test: object | undefined): Promise<string>;
  /** Resolves when those of tests that have ended are gone, or no controller removes them. */
  gone(): Promise<void>;
}

/** How long a controller that watches may take to remove its finalizers. */
const graceMs = 1000;
const goneMs = 5000;

/** @param server returns the server, when it is started */
export function testNamespaces(scopes: TestScopes, server: () => TestServer): TestNamespaces {
  let count = 0;
  const ending = new Set<string>();
  /** Whether namespaces disappear; not with the option that disables their controller. */
  let areRemoved = true;
  return {
    async create(test) {
      const name = `test-${++count}`;
      scopes.cleanUpAfter(test, async () => {
        // The test may have deleted it.
        await expectOk(server().fetch(pathOf(name), { method: "DELETE" }), 404);
        ending.add(name);
        await release(server(), name);
      });
      await expectOk(server().fetch("/api/v1/namespaces", { method: "POST", body: { metadata: { name } } }));
      return name;
    },
    async gone() {
      const names = [...ending];
      ending.clear();
      if (!areRemoved) return;
      const all = names.map((name) => waitUntil(() => isGone(server(), name), goneMs));
      areRemoved = (await Promise.allSettled(all)).every(({ status }) => status === "fulfilled");
    },
  };
}

function pathOf(name: string): string {
  return `/api/v1/namespaces/${name}`;
}

async function isGone({ fetch }: TestServer, name: string): Promise<boolean> {
  const response = await fetch(pathOf(name));
  await response.text();
  return response.status === 404;
}

/** Removes finalizers of the content. A controller that still watches gets the time to do so itself. */
async function release(server: TestServer, namespace: string): Promise<void> {
  const { finalizers } = toolsOf(server);
  const held = await finalizers.held({ namespace });
  if (held.length === 0) return;
  const isEmpty = async (): Promise<boolean> => (await finalizers.held({ namespace })).length === 0;
  if (isWatched(server, new Set(held.map(({ resource }) => resource))))
    await waitUntil(isEmpty, graceMs).catch(() => {}); // They are removed below.
  await releaseHeld({ namespace }, finalizers);
}

function isWatched({ timeline }: TestServer, resources: ReadonlySet<string>): boolean {
  return timeline.openWatches().some(({ resource }) => resources.has(resource));
}
