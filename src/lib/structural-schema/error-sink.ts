/**
 * Receives field errors, by upstream's error types. The caller implements it to build a Status.
 * Source: k8s.io/apimachinery@v0.36.0/pkg/util/validation/field/errors.go.
 */
export interface ErrorSink {
  /** Further errors are dropped. */
  readonly full: boolean;
  required(path: string, detail?: string): void;
  invalid(path: string, value: unknown, detail: string): void;
  typeInvalid(path: string, value: unknown, detail: string): void;
  notSupported(path: string, value: unknown, supported: readonly string[]): void;
  duplicate(path: string, value: unknown): void;
  tooLong(path: string, bytesMax: number): void;
  tooMany(path: string, count: number, countMax: number): void;
}
