/**
 * LeaseCandidate: a candidate for a lease. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/coordination/validation/validation.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import { strategy } from "../../catalog/strategy.ts";
import { configMapKeyProblems } from "../../lib/names/names.ts";
import {
  compareVersions,
  parseVersion,
  type SemanticVersion,
  zeroVersion,
} from "../../lib/semantic-version/semantic-version.ts";
import { text } from "../column.ts";
import { checkImmutable } from "../fields.ts";
import { validateLeaseStrategy } from "./lease-strategy.ts";

/** The strategy of LeaseCandidate. */
export const leaseCandidate = strategy({
  columns: [
    nameColumn,
    text(
      "LeaseName",
      "LeaseName is the name of the lease for which this candidate is contending. This field is immutable.",
      ({ spec }) => spec?.leaseName ?? "",
    ),
    text("BinaryVersion", "", ({ spec }) => spec?.binaryVersion ?? ""),
    text("EmulationVersion", "", ({ spec }) => spec?.emulationVersion ?? ""),
    ageColumn,
  ],
  isolatesStatus: false,
  validateName: configMapKeyProblems,
  validate,
  validateUpdate(next, old, errors) {
    validate(next, errors);
    checkImmutable(next.spec?.leaseName ?? "", old.spec?.leaseName ?? "", "spec.leaseName", errors);
  },
});

function validate({ spec = {} }: KubeObject, errors: FieldErrors): void {
  const { leaseName = "", emulationVersion = "", binaryVersion = "", strategy: how = "" } = spec;
  if (leaseName === "") errors.required("spec.leaseName");
  const emulated =
    emulationVersion === "" ? zeroVersion : readVersion(emulationVersion, "spec.emulationVersion", errors);
  if (binaryVersion === "") errors.required("spec.binaryVersion");
  else {
    const binary = readVersion(binaryVersion, "spec.binaryVersion", errors);
    if (emulationVersion !== "" && compareVersions(binary, emulated) < 0) {
      errors.invalid("spec.binaryVersion", binaryVersion, "must be greater than or equal to `emulationVersion`");
    }
  }
  if (how === "") return errors.required("spec.strategy");
  if (how === "OldestEmulationVersion" && compareVersions(emulated, zeroVersion) === 0) {
    errors.required("spec.emulationVersion", "must be specified when `strategy` is 'OldestEmulationVersion'");
  }
  validateLeaseStrategy(how, "spec.strategy", errors);
}

/** Invalid versions count as the lowest. */
function readVersion(text: string, path: string, errors: FieldErrors): SemanticVersion {
  const version = parseVersion(text);
  if (version === undefined) errors.invalid(path, text, "must be a valid semantic version");
  return version ?? zeroVersion;
}
