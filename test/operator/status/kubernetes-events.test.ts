import { describe, expect, it } from '@jest/globals'
import type { EventFacts } from '../../../operator/kubernetes/event-object.ts'
import { eventsOf, toldBefore } from '../../../operator/status/kubernetes-events.ts'
import { createStatusEvents } from '../../../operator/status/kubernetes-status-events.ts'
import { aCondition, aStatus, type StatusOptions, statusOf } from './resource-status.ts'

const bad = { code: 'conflict', path: '/spec/document/host', message: 'it is taken' } as const
const INVALID = 'Accepted=False:Invalid:/spec/document/host: it is missing'
const CONFLICTED = "Accepted=False:Conflicted:it is taken by 'a'"
const REJECTED = 'Programmed=False:Rejected:refused by plane-1: it is too new'
const PARTIAL = 'Programmed=False:PartiallyProgrammed:held by some'
const digest = (text: string, generation = 1): StatusOptions['more'] => ({
  programmed: { generation, digest: text },
})

/** What is told of one status after the other. */
const tell = (...steps: readonly StatusOptions[]): readonly (readonly string[])[] => {
  let told: ReturnType<typeof toldBefore> | undefined
  return steps.map((step) => {
    const next = eventsOf(told, aStatus(step))
    told = next.told
    return next.events.map(({ reason }) => reason)
  })
}

describe('what is told', () => {
  it.each<[string, readonly StatusOptions[], readonly (readonly string[])[]]>([
    ['of one that is well', [{}], [['Accepted', 'Programmed']]],
    ['again: nothing', [{}, {}], [['Accepted', 'Programmed'], []]],
    [
      'of one that is being sent',
      [{ conditions: ['Accepted=True', 'Programmed=False:Pending:being sent'] }, {}],
      [['Accepted'], ['Programmed']],
    ],
    ['of one that is not judged yet', [{ conditions: ['Accepted=Unknown:Pending:x'] }], [[]]],
    ['of one that is invalid', [{ conditions: [INVALID] }], [['Rejected']]],
    ['of one that is too large', [{ conditions: ['Accepted=False:TooLarge:x'] }], [['Rejected']]],
    ['of one that clashes', [{ conditions: [CONFLICTED] }], [['Conflicted']]],
    [
      'of another fault of the same generation',
      [{ conditions: [CONFLICTED] }, { conditions: [`${CONFLICTED} and 'b'`] }],
      [['Conflicted'], ['Conflicted']],
    ],
    [
      'of the same fault of the next generation',
      [{ conditions: [INVALID] }, { conditions: [INVALID], metadata: { generation: 2 } }],
      [['Rejected'], ['Rejected']],
    ],
    [
      'of one that was mended',
      [{ conditions: [INVALID] }, { metadata: { generation: 2 } }],
      [['Rejected'], ['Accepted', 'Programmed']],
    ],
    [
      'of one that data planes refuse',
      [{ conditions: ['Accepted=True', REJECTED], more: { errors: [bad] } }],
      [['Accepted', 'LoadFailed']],
    ],
    [
      'of one that some data planes refuse',
      [{ conditions: [PARTIAL], more: { errors: [bad] } }],
      [['LoadFailed']],
    ],
    ['of one that some data planes do not hold yet', [{ conditions: [PARTIAL] }], [[]]],
    [
      'of a refusal by another data plane: nothing',
      [
        { conditions: [REJECTED], more: { errors: [bad] } },
        { conditions: [REJECTED.replace('plane-1', 'plane-2')], more: { errors: [bad] } },
      ],
      [['LoadFailed'], []],
    ],
    [
      'of a refusal for another fault',
      [
        { conditions: [REJECTED], more: { errors: [bad] } },
        { conditions: [REJECTED], more: { errors: [{ ...bad, path: '/spec/document/id' }] } },
      ],
      [['LoadFailed'], ['LoadFailed']],
    ],
    [
      'of data planes that come and go: nothing',
      [
        {},
        { conditions: ['Programmed=False:NoDataPlanes:none'] },
        { conditions: ['Programmed=False:Unreachable:all'] },
        {},
      ],
      [['Accepted', 'Programmed'], [], [], []],
    ],
    [
      'of one that is taken after a refusal',
      [{}, { conditions: ['Accepted=True', REJECTED], more: { errors: [bad] } }, {}],
      [['Accepted', 'Programmed'], ['LoadFailed'], ['Programmed']],
    ],
    [
      'of a Secret that was rotated',
      [{ more: digest('a') ?? {} }, { more: digest('b') ?? {} }],
      [['Accepted', 'Programmed'], ['Programmed']],
    ],
    [
      'of another resource of the same name',
      [{}, { metadata: { uid: 'another' } }],
      [
        ['Accepted', 'Programmed'],
        ['Accepted', 'Programmed'],
      ],
    ],
    [
      'of a Realm',
      [{ kind: 'Realm', conditions: ['Accepted=True', 'ResolvedRefs=True', 'Ready=True'] }],
      [['Accepted']],
    ],
  ])('%s', (_title, steps, expected) => {
    expect(tell(...steps)).toEqual(expected)
  })

  it('names the resource, the generation and the cause', () => {
    const { events } = eventsOf(
      undefined,
      aStatus({ conditions: [INVALID], metadata: { generation: 4 } }),
    )
    expect(events).toEqual([
      {
        regarding: {
          ...{ apiVersion: 'gateway.svc.dev/v1alpha1', kind: 'ApiSpecification' },
          ...{ namespace: 'team', name: 'shop', uid: 'uid-shop' },
        },
        type: 'Warning',
        reason: 'Rejected',
        action: 'Judge',
        note: 'generation 4: /spec/document/host',
      },
    ])
  })
})

describe('at the start of an operator', () => {
  const recordedAs = (...conditions: readonly string[]): StatusOptions['recorded'] => ({
    conditions: conditions.map((each) => aCondition(each)),
    programmed: { generation: 1, digest: 'd' },
  })
  it.each<[string, StatusOptions, readonly string[]]>([
    [
      'what stands there already',
      { recorded: recordedAs('Accepted=True', 'Programmed=True') ?? {}, more: digest('d') ?? {} },
      [],
    ],
    ['the same fault', { recorded: recordedAs(INVALID) ?? {}, conditions: [INVALID] }, []],
    [
      'the same refusal',
      { recorded: recordedAs(REJECTED) ?? {}, conditions: [REJECTED], more: { errors: [bad] } },
      [],
    ],
    ['what no operator has judged', { recorded: { conditions: [] } }, ['Accepted', 'Programmed']],
    ['what is of no API server', { recorded: {} }, ['Accepted', 'Programmed']],
    [
      'what has changed meanwhile',
      {
        recorded: recordedAs('Accepted=True', 'Programmed=True') ?? {},
        conditions: [INVALID],
        metadata: { generation: 2 },
      },
      ['Rejected'],
    ],
  ])('%s', (_title, options, expected) => {
    const status = aStatus(options)
    const { events } = eventsOf(toldBefore(status.verdict.resource), status)
    expect(events.map(({ reason }) => reason)).toEqual(expected)
  })
})

describe('one status after the other', () => {
  const aTeller = () => {
    const calls: string[] = []
    const events = createStatusEvents({
      record: ({ reason, regarding }: EventFacts) => calls.push(`${reason} ${regarding.name}`),
      start: () => calls.push('start'),
      stop: () => calls.push('stop'),
      facts: { queued: 0, sent: 0, dropped: 0 },
    })
    return { events, calls }
  }

  it('is told of while we lead, and not before the resources were read', () => {
    const { events, calls } = aTeller()
    events.update(statusOf(aStatus()))
    events.start()
    events.update({ ...statusOf(aStatus()), isReady: false })
    expect(calls).toEqual(['start'])
    events.update(statusOf(aStatus()))
    events.update(statusOf(aStatus(), aStatus({ name: 'other', conditions: [INVALID] })))
    events.stop()
    events.update(statusOf(aStatus({ name: 'third' })))
    expect(calls).toEqual(['start', 'Accepted shop', 'Programmed shop', 'Rejected other', 'stop'])
  })

  it('is told of again when it was deleted and made anew', () => {
    const { events, calls } = aTeller()
    events.start()
    events.update(statusOf(aStatus({ conditions: [INVALID] })))
    events.update(statusOf())
    events.update(statusOf(aStatus({ conditions: [INVALID] })))
    expect(calls).toEqual(['start', 'Rejected shop', 'Rejected shop'])
  })
})
