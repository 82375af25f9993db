// Reads from bytes how an upstream answers a request, and derives what its caller may be given for that.

import { seededRandom } from '../../support/seeded-random.ts'
import type { Choices } from './choices.ts'
import { bodyIn, type Message, planMessage } from './plan-message.ts'
import { AT_ONCE, type Wait, WAITS } from './waits.ts'

export interface ResponsePlan {
  readonly status: number
  /** What is written, one after the other, with the wait in between. */
  readonly pieces: readonly Buffer[]
  readonly wait: Wait
  /** What the upstream does once all is written. */
  readonly then: 'nothing' | 'end' | 'reset' | 'garbage'
  readonly thenAfter: Wait
  /** The body that its caller may be given, if not all of it. */
  readonly body: Buffer
  /** False: the caller must not be told that it is complete. */
  readonly isWhole: boolean
  /** It is whole only once the upstream has closed its side. */
  readonly endsWithConnection: boolean
  /** Although it is whole, the caller may not hear of it. */
  readonly mayBeLost: boolean
  /** The upstream neither goes on nor closes. */
  readonly stalls: boolean
  /** It is not valid HTTP. */
  readonly isMalformed: boolean
  /** No other request may come on the connection. */
  readonly isLast: boolean
  /** In a few words. */
  readonly words: string
}

type Fault = 'none' | 'cut' | 'reset' | 'stall' | 'garbage' | 'bad chunk'
type LeftOver = 'none' | 'response' | 'noise'

export const planResponse = (number: number, method: string, choices: Choices): ResponsePlan => {
  const message = planMessage(number, method, choices)
  const fault = choices.of(FAULTS)
  const place = choices.below(256) / 256
  const leftOver = choices.of(LEFT_OVERS)
  const isMany = choices.below(7) === 6
  const cuts = { most: choices.of([0, 1, 2, 5, isMany ? 400 : 3]), seed: choices.below(256) }
  const wait = choices.of(WAITS.slice(0, isMany ? 2 : WAITS.length))
  const then = choices.of(THENS)
  const thenAfter = choices.of(WAITS)
  const sent = SENT[fault](message, place)
  const { endsWithConnection } = message
  const isComplete = sent.isWhole && fault !== 'stall'
  const behind = isComplete && !endsWithConnection ? leftOver : 'none'
  const ends = endOf({ message, fault, isComplete, then })
  return {
    status: message.status,
    pieces: withLast(cut(sent.bytes, cuts), LEFT_OVER_BYTES[behind]),
    wait,
    then: ends,
    thenAfter: fault === 'none' && !endsWithConnection ? thenAfter : AT_ONCE,
    body: sent.body,
    isWhole: isComplete && (!endsWithConnection || ends === 'end'),
    endsWithConnection,
    mayBeLost: ends === 'reset',
    stalls: fault === 'stall',
    isMalformed: sent.isMalformed,
    isLast: !message.isReusable || behind !== 'none' || !isComplete,
    words: `${message.words}, fault ${fault} at ${place}, left-over ${behind}, then ${ends}`,
  }
}

/** In one piece with the last bytes of the response, as an upstream writes them that thinks it has more to say. */
const withLast = (pieces: readonly Buffer[], behind: string): readonly Buffer[] => [
  ...pieces.slice(0, -1),
  Buffer.concat([...pieces.slice(-1), Buffer.from(behind, 'latin1')]),
]

const FAULTS: readonly Fault[] = [
  ...Array.from({ length: 14 }, () => 'none' as const),
  'cut',
  'cut',
  'reset',
  'stall',
  'garbage',
  'bad chunk',
]

interface Sent {
  readonly bytes: Buffer
  /** All of the message, as far as that can be told from the bytes alone. */
  readonly isWhole: boolean
  readonly body: Buffer
  readonly isMalformed: boolean
}

const whole = ({ head, framed }: Message): Sent => ({
  bytes: Buffer.concat([head, ...framed]),
  isWhole: true,
  body: bodyIn(framed),
  isMalformed: false,
})

const broken = (message: Message, place: number): Sent => {
  const { bytes, body } = whole(message)
  const { endsWithConnection, head } = message
  const at = Math.floor(place * bytes.length)
  const isInBody = endsWithConnection && at >= head.length
  return {
    bytes: bytes.subarray(0, at),
    isWhole: isInBody,
    body: isInBody ? bytes.subarray(head.length, at) : body,
    isMalformed: false,
  }
}

const NOISE = '\0 noise \r\n\r\n'

const garbled = (message: Message): Sent => ({
  ...whole(message),
  bytes: Buffer.concat([Buffer.from(NOISE), message.head, ...message.framed]),
  isWhole: false,
  isMalformed: true,
})

/** The size of one chunk is none. */
const misframed = (message: Message, place: number): Sent => {
  const { isChunked, head, framed } = message
  if (!isChunked) return garbled(message)
  const at = 2 * Math.floor((place * framed.length) / 2)
  const bad = Buffer.from(`${at === 0 ? '' : '\r\n'}zz\r\n`)
  return {
    bytes: Buffer.concat([head, ...framed.slice(0, at), bad, ...framed.slice(at + 1)]),
    isWhole: false,
    body: bodyIn(framed.slice(0, at)),
    isMalformed: true,
  }
}

const SENT = {
  none: whole,
  cut: broken,
  reset: broken,
  stall: broken,
  garbage: garbled,
  'bad chunk': misframed,
} as const satisfies Record<Fault, (message: Message, place: number) => Sent>

const LEFT_OVERS: readonly LeftOver[] = [
  ...Array.from({ length: 9 }, () => 'none' as const),
  'response',
  'noise',
]

/** As if it were the response to the next request. */
const EVIL = 'HTTP/1.1 200 OK\r\nX-Number: 0\r\nContent-Length: 4\r\n\r\nevil'

const LEFT_OVER_BYTES = {
  none: '',
  response: EVIL,
  noise: NOISE,
} as const satisfies Record<LeftOver, string>

const THENS = [
  'nothing',
  'nothing',
  'nothing',
  'nothing',
  'nothing',
  'nothing',
  'end',
  'end',
  'reset',
  'garbage',
] as const

interface Ending {
  readonly message: Message
  readonly fault: Fault
  readonly isComplete: boolean
  readonly then: ResponsePlan['then']
}

const endOf = ({ message, fault, isComplete, then }: Ending): ResponsePlan['then'] => {
  if (fault === 'cut') return 'end'
  if (fault === 'reset') return 'reset'
  if (fault === 'stall') return 'nothing'
  if (fault !== 'none') return then
  // Else the response would never end.
  if (isComplete && message.endsWithConnection) return then === 'reset' ? 'reset' : 'end'
  return then
}

interface Cuts {
  readonly most: number
  readonly seed: number
}

/** Cuts the bytes at so many places at most. */
const cut = (bytes: Buffer, { most, seed }: Cuts): readonly Buffer[] => {
  const random = seededRandom(seed)
  // Small ones in every place.
  const places =
    most >= bytes.length
      ? Array.from(bytes, (_, at) => at)
      : Array.from({ length: most }, () => Math.floor(random() ** 2 * bytes.length))
  const pieces: Buffer[] = []
  let from = 0
  for (const place of [...places.sort((one, other) => one - other), bytes.length]) {
    if (place > from) pieces.push(bytes.subarray(from, place))
    from = place
  }
  return pieces
}
