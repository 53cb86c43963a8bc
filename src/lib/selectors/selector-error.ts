/**
 * A selector is invalid. The message is that of kube-apiserver. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/labels/selector.go.
 */
export class SelectorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "SelectorError";
  }
}
