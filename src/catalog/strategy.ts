/** The default strategy, on which those of all kinds are based. */
import { dnsSubdomainProblems } from "../lib/names/names.ts";
import type { Strategy } from "./strategy-contract.ts";

const nothing = (): void => {};

const defaults: Strategy = {
  validateName: dnsSubdomainProblems,
  generatesNames: true,
  isolatesStatus: true,
  hasGeneration: false,
  countsDroppedFields: false,
  raisesGeneration: () => false,
  setDefaults: nothing,
  setStoredDefaults: nothing,
  dropDisabled: nothing,
  dropsDisabledStatus: false,
  prepareForCreate: nothing,
  prepareForUpdate: nothing,
  prepareForStatusUpdate: nothing,
  validate: nothing,
  validateUpdate: nothing,
  validateStatusUpdate: nothing,
  checksMetaLast: false,
  repeatsMetaRules: true,
  keepsStatusOnCreate: false,
  subresources: {},
  warnings: () => [],
  statusWarnings: () => [],
  gracePeriod: () => undefined,
  checkDeletion: nothing,
  holdsDeletion: () => false,
  orphansByDefault: undefined,
  companion: undefined,
  markDeleted: nothing,
  ttlSeconds: undefined,
  uncached: false,
  blank: () => ({ metadata: {} }),
  selectableFields: {},
  indexedFields: [],
  fieldAnnotation: undefined,
  columns: undefined,
  cellPaths: ["metadata.name", "metadata.creationTimestamp"],
  rowConditions: () => [],
  scale: undefined,
  declarative: undefined,
};

/** What columns read unless their kind names it: all but the managed fields. */
const usualCellPaths = [
  "metadata.name",
  "metadata.creationTimestamp",
  "metadata.deletionTimestamp",
  "metadata.ownerReferences",
  "*",
];

/** Completes a strategy with the defaults. */
export function strategy(special: Partial<Strategy> = {}): Strategy {
  const cells = special.columns === undefined ? undefined : { cellPaths: usualCellPaths };
  return { ...defaults, ...cells, ...special };
}
