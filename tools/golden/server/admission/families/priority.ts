/** The only default PriorityClass, and the priority of pods. */
import type { AdmissionRequest, Sent } from "../../../../../test/support/admission-golden.ts";
import { type Family, namespace } from "./builders.ts";

const classes = "/apis/scheduling.k8s.io/v1/priorityclasses";
const priorityClass = (name: string, fields: Sent): Sent => ({ metadata: { name }, value: 1000, ...fields });

const requests: readonly AdmissionRequest[] = [
  { line: `POST ${classes}`, body: priorityClass("first", { globalDefault: true }) },
  { line: `POST ${classes}`, body: priorityClass("second", { globalDefault: true }) },
  { line: `POST ${classes}`, body: priorityClass("third", {}) },
  { line: `PATCH ${classes}/third`, body: { globalDefault: true }, type: "application/merge-patch+json" },
  { line: `PATCH ${classes}/first`, body: { description: "changed" }, type: "application/merge-patch+json" },
];

export const priority: Family = {
  plugins: {},
  setup: [namespace("priority")],
  scenarios: [{ name: "priority-classes", setup: [], answers: {}, requests }],
};
