import { describe, expect, it } from '@jest/globals'
import type { Clock } from '../../../operator/clock.ts'
import { Handover } from '../../../operator/controller/handover.ts'
import type { DesiredDocument, DesiredSet } from '../../../operator/desired-set.ts'
import { aDesiredSet, aDocument, claim } from '../../support/desired.ts'

const withRoutes = (id: string, ...routes: readonly string[]): DesiredDocument =>
  aDocument(id, { digest: `${id} ${routes.join()}`, claims: routes.map(claim) })

const FROM = withRoutes('from', 'moving', 'stays')
const TO = withRoutes('to', 'own')
const FROM_LATER = withRoutes('from', 'stays')
const TO_LATER = withRoutes('to', 'own', 'moving')

interface Fixture {
  readonly handover: Handover
  readonly applied: DesiredSet[]
  /** Times that are waited for, in milliseconds. */
  readonly waits: number[]
  /** The time that is waited for has come. */
  readonly elapse: () => void
  /** The moment is over. */
  readonly pass: () => void
}

const aHandover = (): Fixture => {
  const applied: DesiredSet[] = []
  const waits: number[] = []
  let due: (() => void) | undefined
  const clock: Clock = {
    now: () => 0,
    random: () => 0,
    after: (ms, callback) => {
      waits.push(ms)
      due = callback
      return () => {
        if (due === callback) due = undefined
      }
    },
  }
  const elapse = (): void => {
    due?.()
  }
  const handover = new Handover({ clock, graceMs: 7, apply: (desired) => applied.push(desired) })
  return {
    ...{ handover, applied, waits },
    elapse,
    pass: () => {
      elapse()
      elapse()
    },
  }
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
    const { handover, applied, waits, pass } = aHandover()
    handover.take(before)
    expect(applied).toEqual([before])
    handover.take(after)
    expect(applied).toEqual(when === 'at once' ? [before, after] : [before])
    expect(waits).toEqual(when === 'at once' ? [] : [7])
    pass()
    expect(waits).toEqual(when === 'at once' ? [] : [7, 50])
    expect(applied).toEqual([before, after])
  })

  it('goes as soon as somebody has come for the route', () => {
    const { handover, applied, pass } = aHandover()
    handover.take(before)
    handover.take(aDesiredSet([FROM_LATER, TO]))
    const whole = aDesiredSet([FROM_LATER, TO_LATER])
    handover.take(whole)
    expect(applied).toEqual([before, whole])
    pass()
    expect(applied).toHaveLength(2)
  })

  it('waits from the first route that is left, however many follow, and then the last one counts', () => {
    const { handover, applied, waits, pass } = aHandover()
    handover.take(before)
    const last = aDesiredSet([])
    for (const each of [aDesiredSet([FROM_LATER, TO]), aDesiredSet([FROM_LATER]), last])
      handover.take(each)
    expect(waits).toEqual([7])
    pass()
    expect(applied).toEqual([before, last])
    // Who waits next waits anew.
    handover.take(before)
    handover.take(aDesiredSet([TO]))
    expect(waits).toEqual([7, 50, 7])
  })

  it('goes with what has come while the process stood still', () => {
    const { handover, applied, elapse } = aHandover()
    handover.take(before)
    handover.take(aDesiredSet([FROM_LATER, TO]))
    elapse()
    const whole = aDesiredSet([FROM_LATER, TO_LATER])
    handover.take(whole)
    expect(applied).toEqual([before, whole])
  })

  it('is not applied any more when all is over', () => {
    const { handover, applied, pass } = aHandover()
    handover.take(before)
    handover.take(aDesiredSet([]))
    handover.stop()
    pass()
    expect(applied).toEqual([before])
  })
})
