// Defines how slow a client may be while it holds what others need: a slot of an upstream, memory, a connection. As
// long as there is enough of all that, only pauses are bounded.

/** True while more than half of something that slow clients hold is in use. Called often, so it must cost nothing. */
export type IsScarce = () => boolean

export const NEVER_SCARCE: IsScarce = () => false

const GRACE_MS = 30_000
/** The default of Kestrel. */
const BYTES_PER_SECOND = 240

/** The longest time that so many bytes may take, counted only while the gateway waits for the client. */
export const longestTimeFor = (bytes: number): number =>
  GRACE_MS + (bytes / BYTES_PER_SECOND) * 1000

/** The message for a client whose body is rejected for it. */
export const BELOW_LEAST_RATE = `The body arrives at less than ${BYTES_PER_SECOND} bytes per second`
