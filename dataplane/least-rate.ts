// This file says how slow a client may be where it holds what others need: a slot of an upstream, memory, a
// connection. Where there is enough of all that, only pauses are bounded.

/** True while more than half of something that slow clients hold is in use. Asked often: it must cost nothing. */
export type IsScarce = () => boolean

export const NEVER_SCARCE: IsScarce = () => false

const GRACE_MS = 30_000
/** As much as Kestrel asks for by default. */
const BYTES_PER_SECOND = 240

/** The longest time that so many bytes may take, counted only while the client is the one to act. */
export const longestTimeFor = (bytes: number): number =>
  GRACE_MS + (bytes / BYTES_PER_SECOND) * 1000

/** What a client is told whose body is refused for that. */
export const BELOW_LEAST_RATE = `The body arrives at less than ${BYTES_PER_SECOND} bytes per second`
