// Makes bodies that tell whose they are: each number has bytes of its own, which differ at every place.

import { seededRandom } from '../../support/seeded-random.ts'

const MOST_CONTENT = 1 << 20
const OFFSETS = 1 << 17
const CONTENT = Buffer.alloc(MOST_CONTENT + OFFSETS)
const random = seededRandom(20)
for (let at = 0; at < CONTENT.length; at += 4) CONTENT.writeUInt32LE(random() * 2 ** 32, at)

/** @param number from -60 to 60 */
export const contentOf = (number: number, bytes: number): Buffer => {
  const offset = (number + 64) * 1021
  return CONTENT.subarray(offset, offset + Math.min(bytes, MOST_CONTENT))
}
