/** What kube-apiserver answers to writes of api services, and what we do. */
import { replayWrites } from "../../../test/support/memory-writes.ts";

replayWrites(`${import.meta.dirname}/testdata/api-services.json.gz`);
