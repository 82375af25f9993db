// Decides about each message of a relayed client before anything of it reaches the router: the first one must be a HELLO,
// and every HELLO must name the realm that the connection was opened for. It reads no more than the first bytes.

import type { SerializerName } from '../protocol/messages.ts'
import { SERIALIZERS } from '../transport/serializers/by-name.ts'
import type { FrameError } from './frame-error.ts'
import { type MessageHead, readMessageHead } from './message-head.ts'

/** Where the type of a message, and the realm of a HELLO, must end. */
export const MAX_HEAD_BYTES = 4096

export interface HelloGateOptions {
  readonly realmUri: string
  readonly format: SerializerName
}

export class HelloGate {
  readonly #options: HelloGateOptions
  /** The message so far, while it is not decided about. */
  #head: Buffer | undefined
  #hasSaidHello = false
  #error: FrameError | undefined

  constructor(options: HelloGateOptions) {
    this.#options = options
  }

  /** Nothing of the current message may pass so far. */
  get isWaiting(): boolean {
    return this.#head !== undefined
  }

  /** Once set, nothing passes any more. */
  get error(): FrameError | undefined {
    return this.#error
  }

  /** A message begins. */
  begin(isText: boolean): void {
    this.#head = Buffer.alloc(0)
    if (isText !== SERIALIZERS[this.#options.format].isText)
      this.refuse(`messages of this sub-protocol are ${isText ? 'binary' : 'text'}`)
  }

  /** While it is waiting. @param isEnd the message ends with these bytes */
  read(bytes: Buffer, isEnd: boolean): void {
    if (this.#error !== undefined) return
    const head = Buffer.concat([this.#head ?? Buffer.alloc(0), bytes]).subarray(0, MAX_HEAD_BYTES)
    this.#head = head
    const result = readMessageHead(this.#options.format, head)
    const isAll = isEnd || head.length === MAX_HEAD_BYTES
    if (result.kind !== 'partial' || isAll) this.#decide(result)
  }

  /** Ends the connection: the message is none of WAMP, or not where it may be. */
  refuse(reason: string): void {
    this.#refuse({ code: 1002, reason, abort: this.#abort(PROTOCOL_VIOLATION, reason) })
  }

  #decide(head: MessageHead): void {
    const { realmUri } = this.#options
    if (head.kind === 'partial' || head.kind === 'unreadable')
      this.refuse('a message must begin with its type, and HELLO with its realm')
    else if (head.kind === 'message' && !this.#hasSaidHello)
      this.refuse('the first message must be HELLO')
    else if (head.kind === 'hello' && head.realmUri !== realmUri) {
      const reason = 'this address is of another realm'
      this.#refuse({ code: 1008, reason, abort: this.#abort(NO_SUCH_REALM, reason) })
    } else {
      this.#hasSaidHello = true
      this.#head = undefined
    }
  }

  #refuse(error: FrameError): void {
    this.#error ??= error
  }

  #abort(uri: string, message: string): Buffer {
    const abort = SERIALIZERS[this.#options.format].encode([ABORT, { message }, uri])
    const payload = Buffer.from(abort as string)
    const isText = SERIALIZERS[this.#options.format].isText
    return Buffer.concat([Buffer.from([isText ? 0x81 : 0x82, payload.length]), payload])
  }
}

const ABORT = 3
const NO_SUCH_REALM = 'wamp.error.no_such_realm'
const PROTOCOL_VIOLATION = 'wamp.error.protocol_violation'
