// Describes why a peer of a relayed WebSocket connection may send no more.

/** What is wrong with a frame: the status code of a Close frame (RFC 6455 §7.4.1), and a reason for debugging. */
export interface FrameError {
  readonly code: 1002 | 1008 | 1009
  readonly reason: string
  /** The WAMP message that says so to the sender, as a frame. */
  readonly abort?: Buffer
}
