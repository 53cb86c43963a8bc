/**
 * The plugin DefaultIngressClass sets the default IngressClass in new Ingresses without a class.
 * Source: k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/network/defaultingressclass/admission.go.
 */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Catalog } from "../../catalog/contract.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { withDefaultClass } from "./default-class.ts";

const group = "networking.k8s.io";
const classes = { group, resource: "ingressclasses" };
const defaultAnnotation = "ingressclass.kubernetes.io/is-default-class";
/** Names the class of an Ingress, as the field did not exist yet. */
const classAnnotation = "kubernetes.io/ingress.class";

/** @returns the plugin DefaultIngressClass */
export function defaultIngressClass(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  const withClass = withDefaultClass(catalog, classes, [defaultAnnotation]);
  return {
    name: "DefaultIngressClass",
    mutate({ operation, target, subresource, object }) {
      const { definition } = target.resource;
      if (definition.resource !== "ingresses" || definition.group !== group) return;
      if (operation !== "CREATE" || subresource !== "" || object === undefined) return;
      if (object.spec?.ingressClassName !== undefined) return;
      if (object.metadata.annotations?.[classAnnotation] !== undefined) return;
      return withClass(setClassOf(object));
    },
  };
}

function setClassOf(ingress: KubeObject): (name: string) => void {
  return (name) => {
    ingress.spec = { ...ingress.spec, ingressClassName: name };
  };
}
