/**
 * The time that a peer of the server needs, such as a webhook that answers late or a client that connects
 * again: real, as on a network. Tests do not wait for states with it, but with `until`.
 */
export const peerLatency = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
