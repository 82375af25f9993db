// Bytes of an upstream go through our own parser of responses, split at random, and byte by byte through Node's: ours
// never accepts what Node's rejects, reads the same where it accepts, and never disagrees on where a response ends.

import {
  bytesOf,
  readResponse,
  type ReadResponse,
} from '../../dataplane/upstream/http1/read-response.ts'
import { readWithNode, type NodeReading } from '../../support/node-http-parser.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import type { FuzzTarget, Random } from '../fuzz.ts'
import { mutateBytes } from '../mutate.ts'
import { ANSWERS, TOKENS } from './response-heads.ts'

/** How the first two bytes of an input are read. */
const wayOf = (
  input: Buffer,
): { readonly method: string; readonly closes: boolean; readonly seed: number } => ({
  method: ((input[0] ?? 0) & 1) === 0 ? 'GET' : 'HEAD',
  closes: ((input[0] ?? 0) & 2) !== 0,
  seed: input[1] ?? 0,
})

const check = (input: Buffer): string => {
  const { method, closes, seed } = wayOf(input)
  const bytes = input.subarray(2)
  const whole = readResponse([bytes], { method, closes })
  const { fault } = whole
  const pieces = readResponse(splitAtRandom(bytes, seededRandom(seed + 1)), { method, closes })
  // Which of several faults is found first may depend on the pieces.
  if (JSON.stringify({ ...pieces, fault }) !== JSON.stringify({ ...whole, fault }))
    throw new Error(`read otherwise in pieces: ${JSON.stringify([whole, pieces])}`)
  compare(whole, readWithNode(bytes, method, closes), bytes.length)
  return `${method} ${whole.end} ${whole.fault ?? whole.statusCode ?? ''}`
}

const splitAtRandom = (bytes: Buffer, random: Random): readonly Buffer[] => {
  const pieces: Buffer[] = []
  const most = random() < 0.5 ? 3 : 40
  for (let at = 0; at < bytes.length;) {
    const to = Math.min(bytes.length, at + 1 + Math.floor(random() * most))
    pieces.push(bytes.subarray(at, to))
    at = to
  }
  return pieces
}

const compare = (own: ReadResponse, node: NodeReading, length: number): void => {
  const isWhole = own.end === 'complete' || own.end === 'leftover'
  const wrong =
    (own.statusCode === undefined ? undefined : wrongHead(own, node)) ??
    (node.body.startsWith(own.body) ? undefined : 'a body is passed on that Node does not read') ??
    (isWhole ? wrongEnd(own, node, length) : undefined) ??
    (own.end === 'waiting' && node.endAt !== undefined ? 'it ends for Node alone' : undefined)
  if (wrong !== undefined)
    throw new Error(`${wrong}: ${JSON.stringify({ own, node }).slice(0, 2000)}`)
}

const wrongHead = (own: ReadResponse, node: NodeReading): string | undefined => {
  if (node.headAt === undefined) return 'a head is accepted that Node rejects'
  if (node.statusCode !== own.statusCode) return 'another status'
  return own.headers.join('\n') === node.headers.join('\n') ? undefined : 'other fields'
}

const wrongEnd = (own: ReadResponse, node: NodeReading, length: number): string | undefined => {
  const endAt = node.endAt ?? (node.faultAt === undefined ? length : undefined)
  if (endAt !== own.readBytes) return 'it ends elsewhere'
  return own.body === node.body ? undefined : 'another body'
}

const pick = <T>(random: Random, list: readonly [T, ...T[]]): T =>
  list[Math.floor(random() * list.length)] ?? list[0]

const repeat = (random: Random, most: number, make: () => string): string =>
  Array.from({ length: Math.floor(random() * (most + 1)) }, make).join('')

/** A response that is valid for the most part: each choice is one that some server makes. */
const generate = (random: Random): string => {
  const end = (): string =>
    random() < 0.97 ? '\r\n' : pick(random, ['\n', '\r', '\r\r\n', '\n\r', ' \r\n'])
  const version = pick(random, ['1.1', '1.1', '1.1', '1.0', '2.0', '1.2'])
  const status = pick(random, [
    '200 OK',
    '200 OK',
    '200',
    '204 No',
    '304 ',
    '404 Not \xe9',
    '100 Go',
    '103 ',
    '101 Up',
    '205 R',
    '99',
    '600 x',
  ])
  const value = (): string =>
    pick(random, ['', ' ', ' x', '\tx\t', ' a, b ', ' "q"', ' \xe9', ' a  b', '\x01', ' chunked'])
  const name = (): string =>
    pick(random, [
      'X-A',
      'x',
      'Date',
      'Connection',
      'Keep-Alive',
      'Upgrade',
      'Set-Cookie',
      'x y',
      '',
      'Trailer',
    ])
  const length = (): string =>
    pick(random, ['0', '2', '5', '007', '5 ', '-1', '+5', '5,5', '0x5', '', '99999999999999999999'])
  const field = (): string =>
    pick(random, [
      () => `${name()}:${value()}${end()}`,
      () => `${name()}:${value()}${end()}`,
      () => `Content-Length: ${length()}${end()}`,
      () =>
        `Transfer-Encoding: ${pick(random, ['chunked', 'chunked', 'Chunked', 'gzip, chunked', 'chunked, chunked', 'identity', ''])}${end()}`,
      () =>
        `Connection:${pick(random, [' close', ' keep-alive', ' upgrade', ' Close, x'])}${end()}`,
      () => pick(random, [` folded${end()}`, `X-A : 1${end()}`, `X-A${end()}`, `\t${end()}`]),
    ])()
  const extension = (): string =>
    pick(random, [
      ';a',
      ';a=b',
      ';a="b c"',
      ';a="\\""',
      ';',
      ';a=',
      '; a',
      ';a ;b',
      ' ',
      ';a="',
      ';=b',
      ';a="b"x',
      ';"a"',
    ])
  const chunk = (): string => {
    const data = repeat(random, 6, () => pick(random, ['a', '\r\n', '0', '\r', '\0']))
    const size =
      random() < 0.95
        ? data.length.toString(16)
        : pick(random, ['', 'g', '0x1', '-1', 'fffffffffffffffff', '1 '])
    return `${random() < 0.1 ? '00' : ''}${size}${repeat(random, random() < 0.2 ? 2 : 0, extension)}${end()}${data}${end()}`
  }
  const head = `HTTP/${version} ${status}${end()}${repeat(random, 4, field)}`
  const body = pick(random, [
    () =>
      `${end()}${repeat(random, 5, () => pick(random, ['a', 'hello', '\r\n', 'HTTP/1.1 200 OK\r\n']))}`,
    () =>
      `Transfer-Encoding: chunked${end()}${end()}${repeat(random, 4, chunk)}0${repeat(random, 1, extension)}${end()}${repeat(random, 1, field)}${end()}`,
    () => `Content-Length: 5${end()}${end()}hello`,
  ])()
  return (
    head +
    body +
    repeat(random, random() < 0.1 ? 2 : 0, () =>
      pick(random, ['x', '\r\n', 'HTTP/1.1 200 OK\r\n\r\n']),
    )
  )
}

const withWay = (way: number, seed: number, text: string): Buffer =>
  bytesOf(String.fromCharCode(way, seed) + text)

export const upstreamResponses: FuzzTarget = {
  name: 'upstream-responses',
  seeds: ANSWERS.flatMap((answer, index) => [0, 1, 2, 3].map((way) => withWay(way, index, answer))),
  mutate: (input, random, pool) => {
    const generated = withWay(
      Math.floor(random() * 4),
      Math.floor(random() * 256),
      generate(random),
    )
    const kind = random()
    if (kind < 0.4) return generated
    return mutateBytes(kind < 0.6 ? generated : input, { random, pool, tokens: TOKENS })
  },
  open: () => ({ check }),
}
