/** Installs manifests into a test server. */

/** What an installation has done with one object. */
export interface InstalledObject {
  /** Such as `apps/v1`. */
  readonly apiVersion: string;
  /** Such as `Deployment`. */
  readonly kind: string;
  /** Empty for objects without a namespace. */
  readonly namespace: string;
  /** Its name, also if the server has generated it. */
  readonly name: string;
  /** False if it existed before: it was changed then, and `remove` leaves it. */
  readonly created: boolean;
}

/** Objects that were installed together. */
export interface Installation {
  /** In the order of their installation. */
  readonly objects: readonly InstalledObject[];
  /**
   * Deletes the objects that the installation has created, the last one first, and waits until they are gone. Finalizers
   * that no controller removes within a second are removed, and named in a warning. Can be called again.
   * @throws Error when an object cannot be deleted
   */
  remove(): Promise<void>;
}

/**
 * What is installed: the path of a file or of a folder with `.yaml`, `.yml` and `.json` files, a `file:` URL, a manifest as
 * text (which has a line break), an object, or a list of these. Files are YAML with any number of documents, or JSON.
 */
export type InstallSource = string | object | readonly (string | object)[];

/** Options of an installation. */
export interface InstallOptions {
  /** The namespace of objects that need one and name none; `default` by default. */
  readonly namespace?: string;
}
