/**
 * The plugin DefaultIngressClass sets the default IngressClass in new Ingresses without a class.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/network/defaultingressclass/admission.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { defaultClass } from "./default-class.ts";

const group = "networking.k8s.io";
const classes = { group, resource: "ingressclasses" };
const defaultAnnotation = "ingressclass.kubernetes.io/is-default-class";
/** Names the class of an Ingress, as the field did not exist yet. */
const classAnnotation = "kubernetes.io/ingress.class";

/** @returns the plugin DefaultIngressClass */
export function defaultIngressClass(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  const findDefault = defaultClass(catalog, classes, [defaultAnnotation]);
  const setClass = async (ingress: KubeObject): Promise<void> => {
    const name = await findDefault();
    if (name !== undefined) ingress.spec = { ...ingress.spec, ingressClassName: name };
  };
  return {
    name: "DefaultIngressClass",
    mutate({ operation, target, subresource, object }) {
      const { definition } = target.resource;
      if (definition.resource !== "ingresses" || definition.group !== group) return;
      if (operation !== "CREATE" || subresource !== "" || object === undefined) return;
      if (object.spec?.ingressClassName !== undefined) return;
      if (object.metadata.annotations?.[classAnnotation] !== undefined) return;
      return setClass(object);
    },
  };
}
