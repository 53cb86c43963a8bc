/**
 * VolumeAttributesClasses are protected while volumes or claims name them. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controller/volume/vacprotection/vac_protection_controller.go`.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import { attributesClassProtection } from "../../apimachinery/protection-finalizers.ts";
import type { ResourceStore } from "../../catalog/contract.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { protectionController } from "./protection.ts";
import { type Reference, some } from "./uses.ts";

/** Creates the controller `volumeattributesclass-protection-controller`. */
export function attributesClassProtectionController(options: ControllerOptions): Controller {
  return protectionController<true>(options, {
    group: "storage.k8s.io",
    version: "v1",
    resource: "volumeattributesclasses",
    finalizer: attributesClassProtection,
    addsFinalizer: true,
    writer: "volumeattributesclass-protection-controller",
    queue: "vacprotection",
    users: [
      {
        group: "",
        resource: "persistentvolumes",
        marks: ['"volumeAttributesClassName":'],
        references: ({ spec }, store) => named(store, [spec?.volumeAttributesClassName]),
      },
      {
        group: "",
        resource: "persistentvolumeclaims",
        marks: [
          '"volumeAttributesClassName":',
          '"currentVolumeAttributesClassName":',
          '"targetVolumeAttributesClassName":',
        ],
        references: (claim, store) => named(store, classesOfClaim(claim)),
      },
    ],
    isUsed: (_, uses) => some(uses, () => true),
  });
}

/** The desired class, the current one, and that of a change in progress. */
function classesOfClaim({ spec, status }: KubeObject): (string | undefined)[] {
  return [
    spec?.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
}

function named(store: ResourceStore, names: readonly (string | undefined)[]): Reference<true>[] {
  return [...new Set(names)].flatMap((name) => (name ? [[store.keyOf("", name), true]] : []));
}
