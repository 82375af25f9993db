// Reads from bytes a response that is whole and valid: its status, framing, body and the fields that say whether its
// connection lives on.

import type { Choices } from './choices.ts'
import { contentOf } from './content.ts'

export interface Message {
  readonly status: number
  readonly head: Buffer
  /** Pieces as framed: those at odd places are bytes of the body. */
  readonly framed: readonly Buffer[]
  readonly isChunked: boolean
  readonly endsWithConnection: boolean
  /** Another request may come on the connection. */
  readonly isReusable: boolean
  /** In a few words. */
  readonly words: string
}

type Framing = 'length' | 'chunked' | 'close' | 'no content' | 'not modified'

const FRAMINGS: readonly Framing[] = [
  'length',
  'length',
  'length',
  'chunked',
  'chunked',
  'close',
  'no content',
  'not modified',
]

const BODY_SIZES = [5, 5, 0, 1, 1000, 16_384, 65_536, 65_536 * 2, 100_000, 300_000, 1_000_000]

export const planMessage = (number: number, method: string, choices: Choices): Message => {
  const framing = choices.of(FRAMINGS)
  const interims = choices.of([0, 0, 0, 1, 2])
  // HTTP/1.0 has no chunks.
  const minor = choices.of([1, 1, 1, 1, framing === 'chunked' ? 1 : 0])
  const connection = choices.of(['', '', '', '', 'close', 'keep-alive'])
  const keepAlive = choices.of(['', '', '', 'timeout=5', 'timeout=1'])
  const body = contentOf(number, choices.of(BODY_SIZES))
  const chunkBytes = Math.max(choices.of([100_000, 1000, 7, 65_536, 1]), body.length >> 9)
  const isBodiless = method === 'HEAD' || STATUSES[framing] !== 200
  const lines = [
    `HTTP/1.${minor} ${STATUSES[framing]} Fine`,
    `X-Number: ${number}`,
    connection && `Connection: ${connection}`,
    keepAlive && `Keep-Alive: ${keepAlive}`,
    FRAMING_LINES[framing](body.length),
  ].filter((line) => line !== '')
  const isKept = connection === 'keep-alive' || (connection === '' && minor === 1)
  return {
    status: STATUSES[framing],
    head: Buffer.from(`${interimHeads(interims * minor)}${lines.join('\r\n')}\r\n\r\n`),
    framed: isBodiless ? [] : frame(framing, body, chunkBytes),
    isChunked: !isBodiless && framing === 'chunked',
    endsWithConnection: !isBodiless && framing === 'close',
    isReusable: isKept && (isBodiless || framing !== 'close'),
    words: `${framing} 1.${minor} ${connection} ${interims} interim ${body.length}/${chunkBytes} bytes`,
  }
}

const STATUSES = {
  length: 200,
  chunked: 200,
  close: 200,
  'no content': 204,
  'not modified': 304,
} as const satisfies Record<Framing, number>

const NO_LINE = (): string => ''

const FRAMING_LINES = {
  length: (bytes) => `Content-Length: ${bytes}`,
  chunked: () => 'Transfer-Encoding: chunked',
  close: NO_LINE,
  'no content': NO_LINE,
  'not modified': NO_LINE,
} as const satisfies Record<Framing, (bytes: number) => string>

const INTERIM = [
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
]

const interimHeads = (count: number): string => INTERIM.slice(0, count).join('')

const frame = (framing: Framing, body: Buffer, chunkBytes: number): readonly Buffer[] => {
  if (framing !== 'chunked') return [Buffer.alloc(0), body]
  const framed: Buffer[] = []
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.subarray(at, at + chunkBytes)
    const extension = at % 3 === 1 ? ';a=b' : ''
    framed.push(Buffer.from(`${endOf(at)}${chunk.length.toString(16)}${extension}\r\n`), chunk)
  }
  const trailer = body.length % 2 === 1 ? 'X-T: 1\r\n' : ''
  framed.push(Buffer.from(`${endOf(body.length)}0\r\n${trailer}\r\n`))
  return framed
}

/** Of the chunk that ends there. */
const endOf = (at: number): string => (at === 0 ? '' : '\r\n')

export const bodyIn = (framed: readonly Buffer[]): Buffer =>
  Buffer.concat(framed.filter((_, index) => index % 2 === 1))
