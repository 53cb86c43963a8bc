/** The networking kinds. */
import { strategy } from "../../resource/strategy.ts";
import { items, type Part, selectable, setAbsent, struct } from "../fields.ts";

export const networkPolicy = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults(object) {
    const spec = struct(object, "spec");
    const rules: Part[] = [...items(spec.ingress), ...items(spec.egress)];
    for (const rule of rules) for (const port of items(rule.ports)) setAbsent(port, { protocol: "TCP" });
    if (items(spec.policyTypes).length === 0) spec.policyTypes = items(spec.egress).length > 0 ? ["Ingress", "Egress"] : ["Ingress"];
  },
});

export const ingress = strategy({
  hasGeneration: true,
  prepareForCreate(object) {
    delete object.status;
  },
});

export const ingressClass = strategy({
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults(object) {
    const { parameters } = struct(object, "spec");
    if (parameters) setAbsent(parameters, { scope: "Cluster" });
  },
});

export const ipAddress = strategy({
  isolatesStatus: false,
  selectableFields: Object.fromEntries(
    ["group", "resource", "namespace", "name"].map((field) => [`spec.parentRef.${field}`, selectable(`spec.parentRef.${field}`)]),
  ),
});
