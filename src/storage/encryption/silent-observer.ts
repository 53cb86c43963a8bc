/** Reports nothing, for programs without metrics. */
import type { EncryptionObserver } from "./contract.ts";

export const silentObserver: EncryptionObserver = {
  transformed() {},
  keyMissed() {},
  keyGenerated() {},
  called() {},
  keyUsed() {},
  keyNamed() {},
  keyRejected() {},
  keysPresent() {},
  arrived() {},
  keysFilled() {},
};
