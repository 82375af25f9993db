import { describe, expect, it } from '@jest/globals'
import type { EventFacts } from '../../../operator/kubernetes/events/object.ts'
import { eventsOf, reportedBefore } from '../../../operator/status/kubernetes-events.ts'
import { StatusEvents } from '../../../operator/status/kubernetes-status-events.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { aCondition, aStatus, type StatusOptions, statusOf } from './resource-status.ts'

const bad = { code: 'conflict', path: '/spec/document/host', message: 'it is taken' } as const
const INVALID = 'Accepted=False:Invalid:/spec/document/host: it is missing'
const CONFLICTED = "Accepted=False:Conflicted:it is taken by 'a'"
const REJECTED = 'Programmed=False:Rejected:refused by plane-1: it is too new'
const PARTIAL = 'Programmed=False:PartiallyProgrammed:held by some'
const UNHEALTHY = 'Degraded=True:UpstreamUnhealthy:1 of 1 gateways have had no good response'
const digest = (text: string, generation = 1): StatusOptions['more'] => ({
  programmed: { generation, digest: text },
})

/** The Events of one status after the other. */
const reasonsOf = (...steps: readonly StatusOptions[]): readonly (readonly string[])[] => {
  let reported: ReturnType<typeof reportedBefore> | undefined
  return steps.map((step) => {
    const next = eventsOf(reported, aStatus(step), 0)
    reported = next.reported
    return next.events.map(({ reason }) => reason)
  })
}

describe('the Events of a resource', () => {
  it.each<[string, readonly StatusOptions[], readonly (readonly string[])[]]>([
    ['of one that is well', [{}], [['Programmed']]],
    ['again: nothing', [{}, {}], [['Programmed'], []]],
    [
      'of one that is being sent',
      [{ conditions: ['Accepted=True', 'Programmed=False:Pending:being sent'] }, {}],
      [[], ['Programmed']],
    ],
    ['of one that is not validated yet', [{ conditions: ['Accepted=Unknown:Pending:x'] }], [[]]],
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
      [['Rejected'], ['Programmed']],
    ],
    [
      'of one that data planes refuse',
      [{ conditions: ['Accepted=True', REJECTED], more: { errors: [bad] } }],
      [['LoadFailed']],
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
      [['Programmed'], [], [], []],
    ],
    [
      'of one that is taken after a refusal',
      [{}, { conditions: ['Accepted=True', REJECTED], more: { errors: [bad] } }, {}],
      [['Programmed'], ['LoadFailed'], ['Programmed']],
    ],
    [
      'of a Secret that was rotated',
      [{ more: digest('a') ?? {} }, { more: digest('b') ?? {} }],
      [['Programmed'], ['Programmed']],
    ],
    [
      'of another resource of the same name',
      [{}, { metadata: { uid: 'another' } }],
      [['Programmed'], ['Programmed']],
    ],
    [
      'of one that begins to be degraded, goes on so through an edit, and is well again',
      [
        {},
        { conditions: [UNHEALTHY] },
        { conditions: [`${UNHEALTHY} and another`], metadata: { generation: 2 } },
        { conditions: ['Ready=True'] },
        { conditions: ['Ready=True'] },
        { conditions: [UNHEALTHY] },
      ],
      [['Programmed'], ['Degraded'], [], ['Recovered'], [], ['Degraded']],
    ],
    [
      'of one that is degraded for another reason',
      [{ conditions: [UNHEALTHY] }, { conditions: ['Degraded=True:RouterUnreachable:x'] }],
      [['Degraded'], ['Degraded']],
    ],
    [
      'of a Realm that is degraded, and well again',
      [
        { kind: 'Realm', conditions: ['Degraded=True:ProviderUnavailable:x'] },
        { kind: 'Realm', conditions: ['Ready=True'] },
      ],
      [['Degraded'], ['Recovered']],
    ],
    [
      'of one that is released while it is degraded: nothing',
      [{ conditions: [UNHEALTHY] }, { conditions: ['Ready=Unknown:Released:x'] }, {}],
      [['Degraded'], [], ['Programmed']],
    ],
    [
      'of a Realm',
      [{ kind: 'Realm', conditions: ['Accepted=True', 'ResolvedRefs=True', 'Ready=True'] }],
      [[]],
    ],
  ])('%s', (_title, steps, expected) => {
    expect(reasonsOf(...steps)).toEqual(expected)
  })

  it('names the resource, the generation and the cause', () => {
    const { events } = eventsOf(
      undefined,
      aStatus({ conditions: [INVALID], metadata: { generation: 4 } }),
      0,
    )
    expect(events).toEqual([
      {
        regarding: {
          apiVersion: 'gateway.svc.dev/v1alpha1',
          kind: 'ApiSpecification',
          namespace: 'team',
          name: 'shop',
          uid: 'uid-shop',
        },
        type: 'Warning',
        reason: 'Rejected',
        action: 'Validate',
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
    ['what no operator has validated', { recorded: { conditions: [] } }, ['Programmed']],
    ['what is of no API server', { recorded: {} }, ['Programmed']],
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
    const { events } = eventsOf(reportedBefore(status.result.resource), status, 0)
    expect(events.map(({ reason }) => reason)).toEqual(expected)
  })
})

describe('references that are missing', () => {
  const missing = (generation: number, what = 'Secret'): StatusOptions => ({
    metadata: { generation },
    conditions: [
      'Accepted=Unknown:Pending:x',
      `ResolvedRefs=False:${what}NotFound:there is no ${what}`,
    ],
  })
  const resolved = (generation: number): StatusOptions => ({ metadata: { generation } })

  it.each<[string, readonly (readonly [atSecond: number, StatusOptions])[], readonly string[]]>([
    [
      'that come by themselves: nothing',
      [
        [0, missing(1)],
        [9, resolved(1)],
      ],
      ['Programmed 1'],
    ],
    [
      'for ten seconds',
      [
        [0, missing(1)],
        [9, missing(1)],
        [10, missing(1)],
      ],
      ['Unresolved 1'],
    ],
    [
      'of one kind after the other: of the second, ten seconds after the first',
      [
        [0, missing(1)],
        [9, missing(1, 'ConfigMap')],
        [10, missing(1, 'ConfigMap')],
      ],
      ['Unresolved 1'],
    ],
    [
      'for long: once',
      [
        [0, missing(1)],
        [10, missing(1)],
        [30, missing(1)],
      ],
      ['Unresolved 1'],
    ],
    [
      'until an edit, however soon: each generation that lacked some',
      [
        [0, missing(1)],
        [2, resolved(2)],
        [4, missing(3)],
        [6, missing(4)],
        [8, { metadata: { generation: 5 }, conditions: ['Accepted=Unknown:Pending:x'] }],
      ],
      ['Unresolved 1', 'Programmed 2', 'Unresolved 3', 'Unresolved 4'],
    ],
    [
      'again',
      [
        [0, missing(1)],
        [10, missing(1)],
        [20, resolved(1)],
        [30, missing(1)],
        [40, missing(1)],
      ],
      ['Unresolved 1', 'Programmed 1', 'Unresolved 1'],
    ],
  ])('%s', (_title, steps, expected) => {
    let reported: ReturnType<typeof reportedBefore> | undefined
    const notes = steps.flatMap(([atSecond, step]) => {
      const next = eventsOf(reported, aStatus(step), atSecond * 1000)
      reported = next.reported
      return next.events.map(({ reason, note }) => `${reason} ${/\d+/.exec(note)?.[0] ?? ''}`)
    })
    expect(notes).toEqual(expected)
  })
})

describe('one status after the other', () => {
  const aTeller = () => {
    const calls: string[] = []
    const recorder = {
      record: ({ reason, regarding }: EventFacts) => calls.push(`${reason} ${regarding.name}`),
      start: () => calls.push('start'),
      stop: () => calls.push('stop'),
      facts: { queued: 0, sent: 0, dropped: 0 },
    }
    const clock = createManualClock()
    const events = new StatusEvents(recorder, clock)
    return { events, calls, clock }
  }

  it('is reported while we lead, and not before the resources were read', () => {
    const { events, calls } = aTeller()
    events.update(statusOf(aStatus()))
    events.lead()
    events.update({ ...statusOf(aStatus()), isReady: false })
    expect(calls).toEqual(['start'])
    events.update(statusOf(aStatus()))
    events.update(statusOf(aStatus(), aStatus({ name: 'other', conditions: [INVALID] })))
    events.follow()
    events.update(statusOf(aStatus({ name: 'third' })))
    expect(calls).toEqual(['start', 'Programmed shop', 'Rejected other', 'stop'])
  })

  it('is reported again when it was deleted and recreated', () => {
    const { events, calls } = aTeller()
    events.lead()
    events.update(statusOf(aStatus({ conditions: [INVALID] })))
    events.update(statusOf())
    events.update(statusOf(aStatus({ conditions: [INVALID] })))
    expect(calls).toEqual(['start', 'Rejected shop', 'Rejected shop'])
  })

  it('is reported after ten seconds where references are still missing, without another change', () => {
    const { events, calls, clock } = aTeller()
    const lacking = { conditions: ['ResolvedRefs=False:SecretNotFound:there is no Secret'] }
    events.lead()
    events.update(statusOf(aStatus(lacking), aStatus({ ...lacking, name: 'gone' })))
    clock.advance(5_000)
    events.update(statusOf(aStatus(lacking), aStatus({ ...lacking, name: 'late' })))
    clock.advance(5_000)
    expect(calls).toEqual(['start', 'Unresolved shop'])
    clock.advance(10_000)
    expect(calls).toEqual(['start', 'Unresolved shop', 'Unresolved late'])
    events.update(statusOf(aStatus({ ...lacking, name: 'last' })))
    events.follow()
    expect(clock.pending).toBe(0)
  })
})
