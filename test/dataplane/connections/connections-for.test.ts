import { expect, it } from '@jest/globals'
import { connectionsFor } from '../../../dataplane/connections/connections-for.ts'

const MIB = 2 ** 20

it.each([
  [0, 128],
  [16 * MIB, 128],
  [64 * MIB, 512],
  [256 * MIB, 2048],
  [512 * MIB, 4096],
  [2048 * MIB, 10_000],
  [Number.MAX_SAFE_INTEGER, 10_000],
])('%d bytes of memory are for %d connections', (bytes, connections) => {
  expect(connectionsFor(bytes)).toBe(connections)
})
