// What a data plane says of a document or a realm is never more than its operator takes.

import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { responseBound } from '../../../operator/fleet/client/bounded-body.ts'
import { readBounded } from '../../support/read-bounded.ts'
import type { Problem, Warning } from '../../../language/problem.ts'
import {
  reportedBytes,
  reportedErrors,
  reportedItemBytes,
  reportedProviders,
  reportedSessions,
  reportedWarnings,
} from '../../../language/wire/report-bounds.ts'
import type { FailingProvider, SessionState } from '../../../language/wire/wire.ts'

const DIGEST = 'f'.repeat(64)

/** Every kind of text: also such that JSON writes with six bytes for a character, or with many marks. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.string({ unit: fc.constantFrom('\0', '"', '{', '[', ',', '\\', '🐎'), maxLength: 2000 }),
)

const warning = fc.record({
  code: fc.constantFrom<Warning['code']>('Shadowed', 'UnknownProperty'),
  path: text,
  message: text,
})

const problem: fc.Arbitrary<Problem> = fc.record({
  code: fc.constant('missing_required_value'),
  path: text,
  message: text,
})

const session: fc.Arbitrary<SessionState> = fc.record(
  {
    url: text,
    state: fc.constantFrom<SessionState['state']>('connecting', 'open', 'waiting', 'refused'),
    reason: text,
  },
  { requiredKeys: ['url', 'state'] },
)

const provider: fc.Arbitrary<FailingProvider> = fc.record(
  { provider: text, cause: fc.constantFrom('dns', 'plain_http'), found: text },
  { requiredKeys: ['provider', 'cause'] },
)

/** Many are alike: what takes the least bytes has the most values. */
const listOf = <T>(item: fc.Arbitrary<T>, least: T): fc.Arbitrary<readonly T[]> =>
  fc.oneof(
    fc.array(item, { maxLength: 40 }),
    fc.nat({ max: 200 }).map((length) => Array.from({ length }, () => least)),
  )

const warnings = listOf<Warning>(warning, { code: 'Shadowed', path: '', message: '' })
const errors = listOf<Problem>(problem, { code: 'conflict', path: '', message: '' })
const providers = listOf<FailingProvider>(provider, { provider: '', cause: 'dns' })
const sessions = listOf<SessionState>(session, { url: '', state: 'open' })

async function* bytesOf(value: unknown): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(JSON.stringify(value)))
}

/** Rejects where an operator would: with nothing to spare but the brackets around it. */
const take = (value: unknown, entryBytes: number): Promise<string> =>
  readBounded(bytesOf(value), { bound: responseBound(16, entryBytes) })

describe('what a data plane says is taken', () => {
  it('of documents in its state', () =>
    fc.assert(
      fc.asyncProperty(text, warnings, async (id, list) => {
        const entry = {
          digest: DIGEST,
          managedBy: 'svc-operator',
          warnings: reportedWarnings(list),
        }
        expect(await take({ [id]: entry }, reportedBytes('spec', id))).not.toBe('')
      }),
    ))

  it('of realms in its state', () =>
    fc.assert(
      fc.asyncProperty(text, sessions, providers, async (uri, list, failing) => {
        const sessions = reportedSessions(list)
        const entry = {
          digest: DIGEST,
          managedBy: 'svc-operator',
          sessions,
          failingProviders: reportedProviders(failing, sessions),
        }
        expect(await take({ [uri]: entry }, reportedBytes('realm', uri))).not.toBe('')
      }),
    ))

  it('of each entry of a sync call', () =>
    fc.assert(
      fc.asyncProperty(text, errors, warnings, async (id, faults, list) => {
        const item = {
          id,
          kind: 'realm',
          result: 'unchanged',
          errors: reportedErrors(faults),
          warnings: reportedWarnings(list),
        }
        expect(await take(item, reportedItemBytes(id))).not.toBe('')
      }),
    ))
})

describe('what is reported first', () => {
  const aWarning = (code: Warning['code'], message = 'm'): Warning => ({
    code,
    path: '/a',
    message,
  })
  const many = Array.from({ length: 100 }, () => aWarning('UnknownProperty'))

  it.each<[string, readonly Warning[], readonly Warning[]]>([
    ['none', [], []],
    [
      'few, of one kind: as they came',
      [aWarning('UnsharedKeys', '1'), aWarning('UnknownProperty', '2')],
      [aWarning('UnsharedKeys', '1'), aWarning('UnknownProperty', '2')],
    ],
    [
      'that another document has a route',
      [...many, aWarning('Shadowed')],
      [aWarning('Shadowed'), ...many.slice(0, 7)],
    ],
    [
      'at least that, where its texts are too long',
      [...many, aWarning('Shadowed', 'x'.repeat(5000))],
      [{ code: 'Shadowed', path: '', message: '' }],
    ],
  ])('of warnings: %s', (_name, given, expected) => {
    expect(reportedWarnings(given)).toEqual(expected)
  })

  it('of sessions: one that is open, then those that say why not', () => {
    const states = ['connecting', 'waiting', 'refused', 'open'] as const
    const all = Array.from({ length: 40 }, (_, i): SessionState => ({
      url: 'ws://r',
      state: states[Math.floor(i / 10)] ?? 'open',
      ...(i >= 10 && i < 30 && { reason: 'why' }),
    }))
    const told = reportedSessions(all).map(({ state }) => state)
    expect(told.join(' ')).toBe(`${'open '.repeat(10)}${'refused '.repeat(6)}`.trim())
  })
})
