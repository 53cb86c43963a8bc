/** Roles and bindings: named by any segment of a path, such as `system:node`. */
import type { KubeObject } from "../../api/object.ts";
import { pathSegmentNameProblems } from "../../api/validation/names.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { strategy } from "../../resource/strategy.ts";
import { items, setAbsent, struct } from "../fields.ts";

const group = "rbac.authorization.k8s.io";

export const role = strategy({ validateName: pathSegmentNameProblems, isolatesStatus: false });

export const roleBinding = strategy({
  validateName: pathSegmentNameProblems,
  isolatesStatus: false,
  setDefaults(object: KubeObject) {
    setAbsent(struct(object, "roleRef"), { apiGroup: group });
    for (const subject of items(object.subjects)) {
      if (subject.kind === "User" || subject.kind === "Group") setAbsent(subject, { apiGroup: group });
    }
  },
  validateUpdate(next, old, errors) {
    if (!deepEqual(next.roleRef, old.roleRef)) errors.invalid("roleRef", next.roleRef, "cannot change roleRef");
  },
});
