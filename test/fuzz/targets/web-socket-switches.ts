// Bytes of an upstream answer a WebSocket handshake: our parser switches only behind a 101 that a second, simple reader proves
// too (RFC 6455 §4.1), at the same byte however they are split, and never where none was asked for.

import { ResponseParser } from '../../../dataplane/upstream/http1/response-parser.ts'
import type { WebSocketOffer } from '../../../dataplane/web-socket-switch.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import type { FuzzTarget, Random } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'

/** RFC 6455 §1.3. */
const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ACCEPT = 's3pPLMBiTxaQ9kYGzzhZRbK+xOo='

/** What the first byte of an input says that was asked for. */
const OFFERS: readonly (WebSocketOffer | undefined)[] = [
  { key: KEY, protocols: ['a', 'b'], extensions: 'permessage-deflate; x="c,d", y' },
  { key: KEY, protocols: [], extensions: '' },
  undefined,
]
const OFFERED_EXTENSIONS: readonly (readonly string[])[] = [
  ['permessage-deflate', 'd"', 'y'],
  [],
  [],
]

interface Switched {
  /** Where the other protocol begins. */
  readonly at: number
  readonly protocol: string | undefined
}

interface Read {
  readonly end: string
  readonly switched: Switched | undefined
}

const read = (pieces: readonly Buffer[], offer: WebSocketOffer | undefined): Read => {
  const parser = new ResponseParser()
  parser.expect('GET', offer)
  let at = 0
  for (const piece of pieces) {
    // Overwritten once it was read, as the memory of a socket is.
    const own = Buffer.from(piece)
    parser.feed(own, own.length)
    let step = parser.next()
    while (step === 'hints' || step === 'head' || step === 'data') step = parser.next()
    at += parser.readTo
    const { switched, problem } = parser
    if (step === 'switched') return { end: step, switched: { at, protocol: switched?.protocol } }
    if (step === 'fault') return { end: problem ?? step, switched: undefined }
    if (step === 'end') return { end: step, switched: undefined }
    parser.release()
    own.fill('?')
  }
  return { end: 'more', switched: undefined }
}

/** A second reader, which knows only lines that no two readers could take differently. */
const prove = (text: string, way: number): Switched | undefined => {
  const offer = OFFERS[way]
  for (let from = 0; offer !== undefined;) {
    const end = text.indexOf('\r\n\r\n', from)
    if (end < 0) return undefined
    const [line = '', ...lines] = text.slice(from, end).split('\r\n')
    from = end + 4
    const status = /^HTTP\/1\.1 (1\d\d)(?: .*)?$/s.exec(line)?.[1]
    if (status === undefined) return undefined
    if (status === '101') return proveFields(lines, { offer, way, at: from })
  }
  return undefined
}

interface Asked {
  readonly offer: WebSocketOffer
  readonly way: number
  readonly at: number
}

const proveFields = (lines: readonly string[], { offer, way, at }: Asked): Switched | undefined => {
  const valuesOf = (name: string): readonly string[] =>
    lines
      .map((line) => /^([^: \t]+)[ \t]*:[ \t]*(.*?)[ \t]*$/s.exec(line) ?? [])
      .flatMap(([, each, value]) => (each?.toLowerCase() === name ? [value ?? ''] : []))
  const tokensOf = (name: string): readonly string[] =>
    valuesOf(name).flatMap((value) =>
      value.split(',').map((each) => (each.split(';')[0] ?? '').trim().toLowerCase()),
    )
  const protocols = valuesOf('sec-websocket-protocol')
  const isProven =
    // Some servers say that there is no body.
    valuesOf('content-length').every((value) => /^0+$/.test(value)) &&
    valuesOf('transfer-encoding').length === 0 &&
    valuesOf('upgrade').length > 0 &&
    tokensOf('upgrade').every((token) => token === 'websocket') &&
    tokensOf('connection').includes('upgrade') &&
    valuesOf('sec-websocket-accept').join('|') === ACCEPT &&
    protocols.length < 2 &&
    protocols.every((each) => offer.protocols.includes(each)) &&
    tokensOf('sec-websocket-extensions').every(
      (each) => each === '' || OFFERED_EXTENSIONS[way]?.includes(each),
    )
  return isProven ? { at, protocol: protocols[0] } : undefined
}

const check = (input: Buffer): string => {
  const way = (input[0] ?? 0) % OFFERS.length
  const bytes = input.subarray(2)
  const whole = read([bytes], OFFERS[way])
  const pieces = read(splitAtRandom(bytes, seededRandom((input[1] ?? 0) + 1)), OFFERS[way])
  if (JSON.stringify(whole.switched) !== JSON.stringify(pieces.switched))
    throw new Error(`read otherwise in pieces: ${JSON.stringify([whole, pieces])}`)
  const text = bytes.toString('latin1')
  const proven = prove(text, way)
  if (whole.switched !== undefined && JSON.stringify(whole.switched) !== JSON.stringify(proven))
    throw new Error(`it proves nothing: ${JSON.stringify({ whole, proven })}`)
  if (whole.switched === undefined && proven !== undefined && PLAIN.test(text))
    throw new Error(`a good switch is refused: ${whole.end}`)
  return `${way} ${whole.end}`
}

/** A 101 whose lines nobody could object to. */
const PLAIN =
  /^HTTP\/1\.1 101 [\x20-\x7e]*\r\n(?:(?:Upgrade|Connection|Sec-WebSocket-[A-Za-z]+|X-[A-Z]): [!-~]+(?: [!-~]+)*\r\n)+\r\n/

const splitAtRandom = (bytes: Buffer, random: Random): readonly Buffer[] => {
  const pieces: Buffer[] = []
  for (let at = 0; at < bytes.length;) {
    const to = Math.min(bytes.length, at + 1 + Math.floor(random() * 40))
    pieces.push(bytes.subarray(at, to))
    at = to
  }
  return pieces
}

const RIGHT = ['Upgrade: websocket', 'Connection: Upgrade', `Sec-WebSocket-Accept: ${ACCEPT}`]
/** Beside or in place of the right lines. */
const OTHERS = [
  'Sec-WebSocket-Protocol: a',
  'Sec-WebSocket-Protocol: b',
  'Sec-WebSocket-Protocol: a, b',
  'Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=10',
  'Sec-WebSocket-Extensions: y, x-mine',
  'Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=',
  `Sec-WebSocket-Accept: ${KEY}`,
  `Sec-WebSocket-Accept: ${ACCEPT.toLowerCase()}`,
  'Upgrade: WebSocket',
  'Upgrade: websocket, h2c',
  'Upgrade: h2c',
  'Connection: keep-alive, UPGRADE',
  'Connection: close',
  'Content-Length: 5',
  'Content-Length: 0',
  'Transfer-Encoding: chunked',
  'X-A: b',
] as const
const LINES = ['HTTP/1.1 101 Switching Protocols', 'HTTP/1.1 101 ', 'HTTP/1.1 101']
const FALSE_LINES = ['HTTP/1.0 101 Up', 'HTTP/1.1 200 OK', 'HTTP/1.1 426 No', 'HTTP/1.1 1010 x']
const INTERIM = ['', 'HTTP/1.1 100 Continue\r\n\r\n', 'HTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\n']
/** Frames, and what pretends to be another response. */
const BEHIND = ['', '\x81\x05hello', '\x88\x02\x03\xe8', 'HTTP/1.1 200 OK\r\n\r\n', '\r\n']

const generate = (random: Random): Buffer => {
  const pick = (list: readonly string[]): string => list[Math.floor(random() * list.length)] ?? ''
  const isOdd = (): boolean => random() < 0.15
  const lines = RIGHT.flatMap((line) => (isOdd() ? [] : [line]))
  while (random() < 0.4) lines.splice(Math.floor(random() * 4), 0, pick(OTHERS))
  const head = [pick(isOdd() ? FALSE_LINES : LINES), ...lines].join(isOdd() ? '\n' : '\r\n')
  return withWay(
    Math.floor(random() * 256),
    Math.floor(random() * 256),
    `${pick(isOdd() ? INTERIM : INTERIM.slice(0, 1))}${head}\r\n\r\n${pick(BEHIND)}`,
  )
}

const withWay = (way: number, seed: number, text: string): Buffer =>
  Buffer.from(String.fromCharCode(way, seed) + text, 'latin1')

const SEEDS = ['', ...OTHERS].flatMap((line) =>
  OFFERS.map((_, way) =>
    withWay(
      way,
      line.length,
      [LINES[0], ...RIGHT, ...(line === '' ? [] : [line]), '', '\x81\x01x'].join('\r\n'),
    ),
  ),
)

export const webSocketSwitches: FuzzTarget = {
  name: 'web-socket-switches',
  seeds: SEEDS,
  mutate: (input, random, pool) => {
    const generated = generate(random)
    const kind = random()
    if (kind < 0.5) return generated
    const tokens = [...RIGHT, ...OTHERS, ...LINES, ...FALSE_LINES, '\r\n', '\n', '\t', ':', ',']
    return mutateBytes(kind < 0.8 ? generated : input, { random, pool, tokens })
  },
  open: () => ({ check }),
}
