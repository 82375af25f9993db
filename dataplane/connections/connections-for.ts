// Computes how many client connections a process accepts, from its memory.

/**
 * @param memoryBytes the memory budget of the process
 * @example connectionsFor(512 * 2 ** 20) // 4096
 */
export const connectionsFor = (memoryBytes: number): number => {
  const affordable = Math.floor((memoryBytes * SHARE_OF_MEMORY) / CONNECTION_BYTES)
  return Math.min(MOST, Math.max(LEAST, affordable))
}

/** Measured: 16 KiB between requests, 38 KiB with a head of 16 KiB that is not complete, 64 KiB in TLS between requests. */
const CONNECTION_BYTES = 64 * 1024

/** The other half is for what requests need: bodies, responses, documents. */
const SHARE_OF_MEMORY = 0.5

/** The least even for a tiny process: probes, an operator and a few clients must be able to connect. */
const LEAST = 128

const MOST = 10_000
