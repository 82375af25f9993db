import { describe, expect, it } from '@jest/globals'
import { Handover } from '../../../operator/controller/handover.ts'
import type { DesiredDocument, DesiredSet } from '../../../operator/desired-set.ts'
import { aDesiredSet, aDocument, claim } from '../../support/desired.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'

const withRoutes = (id: string, ...routes: readonly string[]): DesiredDocument =>
  aDocument(id, { digest: `${id} ${routes.join()}`, claims: routes.map(claim) })

const FROM = withRoutes('from', 'moving', 'stays')
const TO = withRoutes('to', 'own')
const FROM_LATER = withRoutes('from', 'stays')
const TO_LATER = withRoutes('to', 'own', 'moving')

const GRACE_MS = 7
/** For what has come meanwhile to be read. */
const READ_MS = 50

interface Fixture {
  readonly handover: Handover
  readonly take: (desired: DesiredSet) => void
  readonly applied: DesiredSet[]
  readonly clock: ManualClock
}

const aHandover = (): Fixture => {
  const applied: DesiredSet[] = []
  const clock = createManualClock()
  const apply = (desired: DesiredSet): void => void applied.push(desired)
  const handover = new Handover({ clock, graceMs: GRACE_MS, apply })
  const take = (desired: DesiredSet): void => {
    const claims = [...desired.documents.values()].flatMap((document) => document.claims)
    const keys = new Set(claims.map(({ key }) => key))
    handover.take(desired, (key) => keys.has(key))
  }
  return { handover, take, applied, clock }
}

const before = aDesiredSet([FROM, TO])

describe('a desired set', () => {
  const kept = { documents: new Set(['from']), realms: new Set<string>() }
  it.each<[string, DesiredSet, 'at once' | 'waits']>([
    ['the same documents', aDesiredSet([FROM, TO]), 'at once'],
    ['another document', aDesiredSet([FROM, TO, withRoutes('new', 'new')]), 'at once'],
    ['a route more', aDesiredSet([withRoutes('from', 'moving', 'stays', 'more'), TO]), 'at once'],
    ['other content', aDesiredSet([{ ...FROM, digest: 'other' }, TO]), 'at once'],
    ['a route from one to the other', aDesiredSet([FROM_LATER, TO_LATER]), 'at once'],
    ['the same, told in another order', aDesiredSet([TO_LATER, FROM_LATER]), 'at once'],
    ['all routes to another', aDesiredSet([withRoutes('to', 'own', 'moving', 'stays')]), 'at once'],
    [
      'routes that are exchanged',
      aDesiredSet([withRoutes('from', 'own'), withRoutes('to', 'moving', 'stays')]),
      'at once',
    ],
    [
      'a route that a new document has',
      aDesiredSet([FROM_LATER, TO, withRoutes('sharing', 'moving')]),
      'at once',
    ],
    ['a document that can not be put now', aDesiredSet([TO], { kept }), 'at once'],
    ['a route less', aDesiredSet([FROM_LATER, TO]), 'waits'],
    ['a document less', aDesiredSet([FROM]), 'waits'],
    ['nothing', aDesiredSet([]), 'waits'],
    [
      'a route less, another more',
      aDesiredSet([FROM_LATER, withRoutes('to', 'own', 'constructor')]),
      'waits',
    ],
  ])('with %s: %s', (_, after, when) => {
    const { take, applied, clock } = aHandover()
    take(before)
    expect(applied).toEqual([before])
    take(after)
    const isHeld = when === 'waits'
    expect(clock.nextInMs).toBe(isHeld ? GRACE_MS : undefined)
    clock.advance(GRACE_MS)
    expect(applied).toEqual(isHeld ? [before] : [before, after])
    expect(clock.nextInMs).toBe(isHeld ? READ_MS : undefined)
    clock.advance(READ_MS)
    expect(applied).toEqual([before, after])
    expect(clock.pending).toBe(0)
  })

  it('goes as soon as somebody has come for the route', () => {
    const { take, applied, clock } = aHandover()
    take(before)
    take(aDesiredSet([FROM_LATER, TO]))
    const whole = aDesiredSet([FROM_LATER, TO_LATER])
    take(whole)
    expect(applied).toEqual([before, whole])
    expect(clock.pending).toBe(0)
  })

  it('waits from the first route that is left, however many follow, and then the last one counts', () => {
    const { take, applied, clock } = aHandover()
    take(before)
    const last = aDesiredSet([])
    take(aDesiredSet([FROM_LATER, TO]))
    clock.advance(3)
    take(aDesiredSet([FROM_LATER]))
    clock.advance(3)
    take(last)
    expect([clock.pending, clock.nextInMs]).toEqual([1, GRACE_MS - 6])
    clock.advance(GRACE_MS - 6 + READ_MS)
    expect(applied).toEqual([before, last])
    // Who waits next waits anew.
    take(before)
    take(aDesiredSet([TO]))
    expect([clock.pending, clock.nextInMs]).toEqual([1, GRACE_MS])
  })

  it('goes with what has come while the process stood still', () => {
    const { take, applied, clock } = aHandover()
    take(before)
    take(aDesiredSet([FROM_LATER, TO]))
    clock.advance(GRACE_MS)
    const whole = aDesiredSet([FROM_LATER, TO_LATER])
    take(whole)
    expect(applied).toEqual([before, whole])
  })

  it('is not applied any more when all is over', () => {
    const { handover, take, applied, clock } = aHandover()
    take(before)
    take(aDesiredSet([]))
    handover.stop()
    expect(clock.pending).toBe(0)
    clock.advance(GRACE_MS + READ_MS)
    expect(applied).toEqual([before])
  })
})
