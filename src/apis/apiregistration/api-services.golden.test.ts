/** Compares the answers to writes of APIServices with those of kube-apiserver. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/api-services.json.gz`);
