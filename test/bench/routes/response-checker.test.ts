import { expect, it } from '@jest/globals'
import { liveVersion } from './documents.ts'
import { expectedStatus, type Question, type Seen, wrongness } from './response-checker.ts'

/** Of version 5: upstream 1, open, with the extra path. */
const RIGHT: Seen = { status: 200, version: 5, upstream: 1, sentVersion: 5 }
const WINDOW = { oldest: 5, newest: 6 }

const refused = (status: number): Seen => ({
  status,
  version: undefined,
  upstream: undefined,
  sentVersion: undefined,
})

it('takes each version for what its number makes of it', () => {
  expect([0, 2, 3, 5, 6].map(liveVersion)).toEqual([
    { number: 0, upstream: 0, isSecured: false, hasExtraPath: false },
    { number: 2, upstream: 0, isSecured: true, hasExtraPath: true },
    { number: 3, upstream: 1, isSecured: true, hasExtraPath: false },
    { number: 5, upstream: 1, isSecured: false, hasExtraPath: true },
    { number: 6, upstream: 0, isSecured: true, hasExtraPath: false },
  ])
  expect(expectedStatus('without key', liveVersion(6))).toBe(401)
  expect(expectedStatus('extra path', liveVersion(6))).toBe(404)
  expect(expectedStatus('with key', liveVersion(6))).toBe(200)
})

it.each<readonly [title: string, question: Question, seen: Seen]>([
  ['a response of one version', 'with key', RIGHT],
  ['a refusal of the newer version', 'without key', refused(401)],
  ['a path that the newer version lacks', 'extra path', refused(404)],
])('accepts %s', (_title, question, seen) => {
  expect(wrongness(question, seen, WINDOW)).toBeUndefined()
})

it.each<readonly [title: string, question: Question, seen: Seen, why: string]>([
  ['another status', 'with key', refused(503), '503, which no version from 5 to 6 answers'],
  ['no response', 'with key', refused(0), '0, which no version from 5 to 6 answers'],
  ['a refusal with the key', 'with key', refused(401), '401, which no version from 5 to 6 answers'],
  ['no version', 'with key', { ...RIGHT, version: undefined }, '200 without a version'],
  [
    'an older version',
    'with key',
    { ...RIGHT, version: 4 },
    'version 4 after version 5 had been seen',
  ],
  [
    'a version of the future',
    'with key',
    { ...RIGHT, version: 7 },
    'version 7, which is not applied yet',
  ],
  [
    'a secured version that lets in',
    'without key',
    { ...RIGHT, version: 6, sentVersion: 6, upstream: 0 },
    '200 of version 6, which refuses it',
  ],
  [
    'a request made by another version',
    'with key',
    { ...RIGHT, sentVersion: 6 },
    'version 5, sent to the upstream as 6',
  ],
  [
    'the upstream of another version',
    'with key',
    { ...RIGHT, upstream: 0 },
    'version 5 by upstream 0, which is not its own',
  ],
])('finds %s', (_title, question, seen, why) => {
  expect(wrongness(question, seen, WINDOW)).toBe(why)
})
