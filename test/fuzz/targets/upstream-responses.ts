// Bytes of an upstream go through our own parser of responses, split at random, and byte by byte through Node's: ours
// never accepts what Node's rejects, reads the same where it accepts, and never disagrees on where a response ends.

import {
  bytesOf,
  readResponse,
  type Reading,
  type ReadResponse,
} from '../../dataplane/upstream/http1/read-response.ts'
import { readWithNode, type NodeReading } from '../../support/node-http-parser.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import type { FuzzTarget, Random } from '../fuzz.ts'
import { generateResponse } from '../generate-response.ts'
import { mutateBytes } from '../mutate.ts'
import { RESPONSES, TOKENS } from './response-heads.ts'

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
  compareWithNode(whole, bytes, { method, closes })
  // Of the status its class: else the pool would consist of statuses.
  return `${method} ${whole.end} ${whole.fault ?? Math.floor((whole.statusCode ?? 0) / 100)}`
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

/** @throws Error where Node's parser rejects what ours accepts, or sees the end elsewhere */
export const compareWithNode = (
  own: ReadResponse,
  bytes: Buffer,
  { method, closes }: Required<Reading>,
): void => {
  const node = readWithNode(bytes, method, closes)
  if (isRejectedByNodeAlone(bytes, node)) return
  const isWhole = own.end === 'complete' || own.end === 'leftover'
  const wrong =
    (own.statusCode === undefined ? undefined : wrongHead(own, node)) ??
    (node.body.startsWith(own.body) ? undefined : 'a body is passed on that Node does not read') ??
    (isWhole ? wrongEnd(own, node, bytes.length) : undefined) ??
    (own.end === 'waiting' && node.endAt !== undefined ? 'it ends for Node alone' : undefined)
  if (wrong !== undefined)
    throw new Error(`${wrong}: ${JSON.stringify({ own, node }).slice(0, 2000)}`)
}

/** The one thing that ours accepts and Node's does not. */
const isRejectedByNodeAlone = (bytes: Buffer, { faultAt }: NodeReading): boolean =>
  faultAt !== undefined && BLANK_BEFORE_COLON.test(bytes.toString('latin1'))

const BLANK_BEFORE_COLON = /\n[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]+:/

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

const withWay = (way: number, seed: number, text: string): Buffer =>
  bytesOf(String.fromCharCode(way, seed) + text)

export const upstreamResponses: FuzzTarget = {
  name: 'upstream-responses',
  seeds: RESPONSES.flatMap((response, index) =>
    [0, 1, 2, 3].map((way) => withWay(way, index, response)),
  ),
  mutate: (input, random, pool) => {
    const generated = withWay(
      Math.floor(random() * 4),
      Math.floor(random() * 256),
      generateResponse(random),
    )
    const kind = random()
    if (kind < 0.6) return generated
    return mutateBytes(kind < 0.8 ? generated : input, { random, pool, tokens: TOKENS })
  },
  open: () => ({ check }),
}
