// Generated responses, each split at every byte: what is read of one does not depend on how it arrives, and Node's parser
// reads the same.

import { expect, it } from '@jest/globals'
import { bytesOf, readResponse, splitsOf } from '../dataplane/upstream/http1/read-response.ts'
import { seededRandom } from '../support/seeded-random.ts'
import type { Random } from './fuzz.ts'
import { generateResponse } from './generate-response.ts'
import { mutateBytes } from './mutate.ts'
import { TOKENS } from './targets/response-heads.ts'
import { compareWithNode } from './targets/upstream-responses.ts'

const SEED = 20_261_126
const COUNT = 1000

const corpus = (random: Random): readonly Buffer[] => {
  const sound = Array.from({ length: COUNT }, () => bytesOf(generateResponse(random)))
  return sound.map((bytes, index) =>
    index % 4 === 3 ? mutateBytes(bytes, { random, pool: sound, tokens: TOKENS }) : bytes,
  )
}

it(`${COUNT} responses are read alike wherever they are split, and as Node reads them`, () => {
  const ends = new Set<string>()
  for (const [index, bytes] of corpus(seededRandom(SEED)).entries()) {
    const reading = { method: index % 5 === 4 ? 'HEAD' : 'GET', closes: index % 2 === 1 }
    const whole = readResponse([bytes], reading)
    ends.add(whole.end)
    compareWithNode(whole, bytes, reading)
    // Which of several faults is found first may depend on the pieces.
    const expected = JSON.stringify({ ...whole, fault: undefined })
    const differing = splitsOf(bytes).filter(
      (pieces) =>
        JSON.stringify({ ...readResponse(pieces, reading), fault: undefined }) !== expected,
    )
    expect({ bytes: bytes.toString('latin1'), differing }).toMatchObject({ differing: [] })
  }
  expect([...ends].sort()).toEqual(['complete', 'cut', 'fault', 'leftover', 'waiting'])
}, 120_000)
