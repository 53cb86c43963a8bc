/**
 * VolumeAttachment: the request to attach a volume to a node, and its state.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/storage/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/storage/volumeattachment`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { addInvalid, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { goForm } from "../../catalog/go-form.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dnsSubdomainProblems } from "../../lib/names/names.ts";
import { validateVolumeSpec } from "../core/persistent-volume/validate-volume-spec.ts";
import { setHostPathDefaults } from "../core/pod/spec-defaults.ts";
import { roundResources } from "../core/resource-list.ts";
import { keepMetaForStatus, type Part, setAbsent } from "../fields.ts";
import { volumeAttachmentColumns } from "./columns.ts";
import { validateCsiDriverName } from "./driver-name.ts";

const metadataBytesMax = 256 * 1024;
const messageBytesMax = 1024;

/** The strategy of VolumeAttachment. */
export const volumeAttachment = strategy({
  columns: volumeAttachmentColumns,
  repeatsMetaRules: false,
  declarative: {},
  setDefaults(object) {
    const inline = object.spec?.source?.inlineVolumeSpec;
    if (!inline) return;
    roundResources(inline.capacity);
    setHostPathDefaults(inline.hostPath);
    if (inline.iscsi) setAbsent(inline.iscsi, { iscsiInterface: "default" });
  },
  dropsDisabledStatus: true,
  prepareForStatusUpdate: keepMetaForStatus,
  validate,
  validateUpdate,
  validateStatusUpdate: validateUpdate,
});

function validateUpdate(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
  validate(next, errors);
  const shown = (object: KubeObject): Part => goForm("VolumeAttachmentSpec", object.spec);
  if (!deepEqual(shown(next), shown(old)))
    errors.covered("immutable").invalid("spec", shown(next), "field is immutable");
}

function validate({ spec = {}, status = {} }: KubeObject, errors: FieldErrors): void {
  const { attacher = "", source = {}, nodeName = "" } = spec;
  validateCsiDriverName(attacher, "spec.attacher", errors);
  validateSource(source, errors);
  addInvalid(errors, "spec.nodeName", nodeName, dnsSubdomainProblems(nodeName));
  validateStatus(status, errors);
  const { persistentVolumeName: name } = source;
  if (name !== undefined) addInvalid(errors, "spec.source.persistentVolumeName", name, dnsSubdomainProblems(name));
}

function validateSource({ persistentVolumeName: name, inlineVolumeSpec: inline }: Part, errors: FieldErrors): void {
  const rule = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (name === undefined && inline === undefined) errors.required("spec.source", rule);
  else if (name !== undefined && inline !== undefined) errors.forbidden("spec.source", rule);
  else if (inline !== undefined)
    validateVolumeSpec(inline, "spec.source.inlineVolumeSpec", { name: "", inline: true }, errors);
  else if (name === "")
    errors.required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName");
}

function validateStatus({ attachmentMetadata = {}, attachError, detachError }: Part, errors: FieldErrors): void {
  let bytes = 0;
  for (const [key, value] of Object.entries(attachmentMetadata))
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value as string);
  if (bytes > metadataBytesMax) errors.tooLong("status.attachmentMetadata", metadataBytesMax);
  validateError(attachError, "status.attachError", errors);
  validateError(detachError, "status.detachError", errors);
}

function validateError(error: Part | undefined, path: string, errors: FieldErrors): void {
  const { message = "", errorCode = 0 } = error ?? {};
  if (Buffer.byteLength(message) > messageBytesMax) errors.tooLong(`${path}.message`, metadataBytesMax); // Upstream's message has the other limit.
  if (errorCode < 0) errors.invalid(`${path}.errorCode`, errorCode, "must be between 0 and 2147483647, inclusive");
}
