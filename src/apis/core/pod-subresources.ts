/** `/ephemeralcontainers` and `/resize`: each changes one part of a pod and leaves the rest as it was. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject, ObjectMeta } from "../../api/object.ts";
import { addInvalid } from "../../api/validation/metadata.ts";
import { addIntegers, cloneJson, deepEqual } from "../../lib/json/values.ts";
import { dnsLabelProblems } from "../../lib/names/names.ts";
import type { SubresourceRules } from "../../resource/contract.ts";
import { items, type Part } from "../fields.ts";

export const ephemeralContainers: SubresourceRules = {
  prepare(next, old) {
    const added = next.spec?.ephemeralContainers;
    keepAll(next, old);
    next.spec.ephemeralContainers = added;
    countChange(next, old);
  },
  validate(next, old, errors) {
    const path = "spec.ephemeralContainers";
    validateNames(next, path, errors);
    const now = new Map(items(next.spec.ephemeralContainers).map((container) => [container.name, container]));
    for (const container of items(old.spec?.ephemeralContainers)) {
      const known = now.get(container.name);
      if (known === undefined) errors.forbidden(path, `existing ephemeral containers ${JSON.stringify(container.name)} may not be removed`);
      else if (!deepEqual(known, container)) {
        errors.forbidden(path, `existing ephemeral containers ${JSON.stringify(container.name)} may not be changed`);
      }
    }
  },
};

export const resize: SubresourceRules = {
  prepare(next, old) {
    const wanted = new Map([...items(next.spec?.containers), ...items(next.spec?.initContainers)].map((container) => [container.name, container]));
    keepAll(next, old);
    for (const container of [...items(next.spec.containers), ...items(next.spec.initContainers)]) {
      const change = wanted.get(container.name);
      if (change === undefined) continue;
      container.resources = change.resources;
      container.resizePolicy = change.resizePolicy;
    }
    countChange(next, old);
  },
  validate() {
    // What may be resized to what is for the kubelet to say.
  },
};

/** All of it but the metadata that every write may change. */
function keepAll(next: KubeObject, old: KubeObject): void {
  keepMember(next.metadata, old.metadata, "labels");
  keepMember(next.metadata, old.metadata, "annotations");
  next.spec = cloneJson(old.spec ?? {});
  next.status = old.status;
}

function keepMember(next: ObjectMeta, old: ObjectMeta, field: "labels" | "annotations"): void {
  if (old[field] === undefined) delete next[field];
  else next[field] = old[field];
}

function countChange(next: KubeObject, old: KubeObject): void {
  if (!deepEqual(next.spec, old.spec)) next.metadata.generation = addIntegers(old.metadata.generation ?? 0, 1);
}

function validateNames(next: KubeObject, path: string, errors: FieldErrors): void {
  const names = new Set<string>([...items(next.spec.containers), ...items(next.spec.initContainers)].map((container: Part) => container.name));
  for (const [index, { name = "", image = "" }] of items(next.spec.ephemeralContainers).entries()) {
    if (name === "") errors.required(`${path}[${index}].name`);
    else addInvalid(errors, `${path}[${index}].name`, name, dnsLabelProblems(name));
    if (names.has(name)) errors.duplicate(`${path}[${index}].name`, name);
    names.add(name);
    if (image === "") errors.required(`${path}[${index}].image`);
  }
}
