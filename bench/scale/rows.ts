/** The rows of `npm run bench -- --scale [ROW]`, which run one after another. */
import type { ScaleRow } from "./contract.ts";

/** Their code is loaded when they run. */
export const rows: readonly ScaleRow[] = [
  {
    name: "objects",
    what: "--objects ConfigMaps of 1 KB: lists, pages, gets during them, memory, restart",
    goal: "a page costs as much as among a twentieth of them",
    run: async (show, { objects }) => (await import("./objects.ts")).manyObjects(show, objects),
  },
  {
    name: "namespaces",
    what: "20,000 namespaces deleted",
    goal: "30 s of CPU",
    run: async (show) => (await import("./namespaces.ts")).deletedNamespaces(show),
  },
  {
    name: "definitions",
    what: "1,000 CustomResourceDefinitions",
    goal: "established in 5 s, served 1.5 s after a restart",
    run: async (show) => (await import("./definitions.ts")).manyDefinitions(show),
  },
  {
    name: "dependents",
    what: "100,000 dependents of one owner collected",
    goal: "20 s of CPU",
    run: async (show) => (await import("./dependents.ts")).collectedDependents(show),
  },
  {
    name: "authorization",
    what: "decisions with 10,000 role bindings",
    goal: "20 µs",
    run: async (show) => (await import("../rbac.ts")).decisions(show),
  },
  {
    name: "large-object",
    what: "an apply to an object of 1.4 MiB with a list of 10,000 items",
    goal: "60 ms of CPU",
    run: async (show) => (await import("./large-object.ts")).appliedLargeObject(show),
  },
  {
    name: "old-states",
    what: "exact reads of states whose events are dropped, among 5,000 objects and among 100,000",
    goal: "1.5 ×",
    run: async (show) => (await import("./old-states.ts")).oldStates(show),
  },
  {
    name: "selectors",
    what: "repeated lists by a label of 40 objects, among 5,000 objects and among 100,000",
    goal: "1.5 ×",
    run: async (show) => (await import("./selectors.ts")).repeatedSelectors(show),
  },
  {
    name: "watchers",
    what: "10,000 watches of one resource, at 5 writes a second",
    goal: "p99 of delivery 100 ms",
    run: async (show) => {
      const { manyWatches, watchersOfAll } = await import("./watchers.ts");
      await manyWatches(show, watchersOfAll);
    },
  },
  {
    name: "object-watchers",
    what: "1,000 watches of one object each, at 200 writes a second",
    goal: "p99 of delivery 100 ms",
    run: async (show) => {
      const { manyWatches, watchersOfOne } = await import("./watchers.ts");
      await manyWatches(show, watchersOfOne);
    },
  },
  {
    name: "leases",
    what: "5,000 leases renewed every 10 s",
    goal: "25 % of a core",
    run: async (show) => (await import("./leases.ts")).renewedLeases(show),
  },
  {
    name: "secrets",
    what: "400 Secrets of 1 MB read by 16 informers at once",
    goal: "RSS of 1 GiB",
    run: async (show) => (await import("./secrets.ts")).largeSecrets(show),
  },
];
