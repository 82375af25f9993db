import { describe, expect, it } from '@jest/globals'
import { ApiError, type ApplyOptions } from '../../../operator/kubernetes/client/api.ts'
import { StatusWriter } from '../../../operator/status/kubernetes-status.ts'
import { afterFailure } from '../../../operator/status/kubernetes-status-failure.ts'
import { differenceOf, statusObject } from '../../../operator/status/kubernetes-status-object.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createSilentLog, type Log } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { aCondition, aStatus, type StatusOptions, statusOf } from './resource-status.ts'

interface Applied {
  readonly kind: string
  readonly name: string
  readonly object: ValueMap
  readonly options: ApplyOptions
  readonly atMs: number
}

const aWriter = (log: Log = createSilentLog(), responseMs = 5, operator?: string) => {
  const clock = createManualClock({ random: seededRandom(1) })
  const applied: Applied[] = []
  const under = { now: 0, most: 0 }
  /** What the next requests are answered; then all succeed. */
  const faults: Error[] = []
  const live = { uid: 'uid-shop', resourceVersion: '99' }
  /** Beside its metadata. */
  const body: { spec?: ValueMap; status?: ValueMap } = {}
  let looks = 0
  const writer = new StatusWriter({
    api: {
      get: () => {
        looks += 1
        return Promise.resolve({ metadata: live, ...body })
      },
      apply: (type, { namespace, name }, object, options) => {
        applied.push({
          kind: type.kind,
          name: `${namespace}/${name}`,
          object,
          options,
          atMs: clock.now(),
        })
        under.now += 1
        under.most = Math.max(under.most, under.now)
        const { promise, resolve, reject } = Promise.withResolvers<ValueMap>()
        const fault = faults.shift()
        clock.after(responseMs, () => {
          under.now -= 1
          if (fault === undefined) resolve({ metadata: { resourceVersion: `w${applied.length}` } })
          else reject(fault)
        })
        return promise
      },
    },
    fieldManager: 'svc-operator',
    clock,
    log,
    ...(operator !== undefined && { operator }),
  })
  const pass = (ms: number): Promise<void> => clock.run(ms)
  return { writer, applied, faults, under, pass, live, body, looks: () => looks }
}

const many = (count: number, more: StatusOptions = {}) =>
  statusOf(...Array.from({ length: count }, (_, i) => aStatus({ ...more, name: `d${i}` })))

const PROBLEM = { code: 'conflict', path: '/spec/document/host', message: 'it is taken' } as const
const rejectedBy = (words: string): StatusOptions => ({
  conditions: ['Accepted=True', `Programmed=False:Rejected:${words}`],
})

/** As the API has it now. */
const readBack = (
  recorded: NonNullable<StatusOptions['recorded']>,
  resourceVersion: string,
  { name = 'shop', uid = `uid-${name}` }: { readonly name?: string; readonly uid?: string } = {},
) => aStatus({ name, recorded, metadata: { uid, resourceVersion } }).result.resource

describe('a status', () => {
  it('is applied whole, to the status of the very resource', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(
      statusOf(
        aStatus({
          metadata: { generation: 3 },
          more: {
            errors: [PROBLEM],
            warnings: [{ code: 'Shadowed', path: '/a', message: 'w' }],
            programmed: { generation: 2, digest: 'sha256:x' },
          },
        }),
        aStatus({ kind: 'Realm', name: 'constructor', conditions: ['Accepted=True'] }),
      ),
    )
    await pass(1_000)
    expect(applied).toMatchObject([
      {
        kind: 'ApiSpecification',
        name: 'team/shop',
        options: { fieldManager: 'svc-operator', subresource: 'status' },
        object: {
          apiVersion: 'gateway.svc.dev/v1alpha1',
          kind: 'ApiSpecification',
          metadata: { namespace: 'team', name: 'shop', uid: 'uid-shop', resourceVersion: '10' },
          status: {
            observedGeneration: 3,
            conditions: [
              { type: 'Accepted', status: 'True', observedGeneration: 3 },
              { type: 'ResolvedRefs' },
              { type: 'Programmed' },
              { type: 'Ready' },
            ],
            errors: [PROBLEM],
            warnings: [{ code: 'Shadowed', path: '/a', message: 'w' }],
            programmedGeneration: 2,
            programmedDigest: 'sha256:x',
          },
        },
      },
      { kind: 'Realm', name: 'team/constructor', object: { status: { observedGeneration: 1 } } },
    ])
    expect(writer.facts).toEqual({ pending: 0, failing: 0, writes: 2 })
  })

  it('has eight faults and warnings at most, and no text above 1 KiB', () => {
    const errors = Array.from({ length: 20 }, () => ({ ...PROBLEM, message: 'é'.repeat(5_000) }))
    const warnings = errors.map(({ message }) => ({ code: 'Shadowed', path: '', message }) as const)
    const object = statusObject(aStatus({ more: { errors, warnings } }))
    expect(object.errors).toHaveLength(8)
    expect(object.warnings).toHaveLength(8)
    expect(Buffer.byteLength(object.errors?.[0]?.message ?? '')).toBeLessThanOrEqual(1024)
  })

  it('leaves out what there is none of', () => {
    expect(Object.keys(statusObject(aStatus()))).toEqual(['observedGeneration', 'conditions'])
  })
})

describe('a difference', () => {
  const AT_ONE = { host: 'a', serving: '1', gateways: '1/1' }
  const AT_TWO = { host: 'a', serving: '1', gateways: '2/2' }
  const base: StatusOptions = {
    conditions: ['Accepted=True', 'Programmed=False:Pending:a', 'Ready=True:Ready:well'],
    more: { summary: AT_ONE },
  }
  it.each<[string, StatusOptions, string]>([
    ['none', base, 'none'],
    [
      'of times',
      {
        conditions: [
          aCondition('Accepted=True', 1, '2020-01-01T00:00:00Z'),
          'Programmed=False:Pending:a',
          'Ready=True:Ready:well',
        ],
      },
      'none',
    ],
    ['of order', { conditions: [...(base.conditions ?? [])].reverse() }, 'none'],
    [
      'of words about the fleet',
      { conditions: ['Accepted=True', 'Programmed=False:Pending:b', 'Ready=True:Ready:well'] },
      'wording',
    ],
    [
      'of words about the resource',
      {
        conditions: [
          'Accepted=True:Accepted:x',
          'Programmed=False:Pending:a',
          'Ready=True:Ready:well',
        ],
      },
      'urgent',
    ],
    [
      'of a reason',
      { conditions: ['Accepted=True', 'Programmed=False:Rejected:a', 'Ready=True:Ready:well'] },
      'urgent',
    ],
    [
      'of a status',
      { conditions: ['Accepted=True', 'Programmed=True:Pending:a', 'Ready=True:Ready:well'] },
      'urgent',
    ],
    ['of a generation', { ...base, metadata: { generation: 2 } }, 'urgent'],
    ['a condition less', { conditions: ['Accepted=True'] }, 'urgent'],
    ['a condition more', { conditions: [...(base.conditions ?? []), 'Stalled=True'] }, 'urgent'],
    ['of faults', { ...base, more: { summary: AT_ONE, errors: [PROBLEM] } }, 'urgent'],
    [
      'a document that is degraded',
      { conditions: [...(base.conditions ?? []), 'Degraded=True'] },
      'wording',
    ],
    [
      'a document that is ready and degraded',
      {
        conditions: [
          'Accepted=True',
          'Programmed=False:Pending:a',
          'Ready=True:Degraded:it is not found',
          'Degraded=True:UpstreamUnhealthy:it is not found',
        ],
      },
      'wording',
    ],
    ['of how many gateways hold it', { ...base, more: { summary: AT_TWO } }, 'counts'],
    ['of what serves', { ...base, more: { summary: { ...AT_ONE, serving: '–' } } }, 'wording'],
    ['of the host', { ...base, more: { summary: { ...AT_ONE, host: 'b' } } }, 'urgent'],
    [
      'of what is programmed',
      { ...base, more: { programmed: { generation: 1, digest: 'x' } } },
      'urgent',
    ],
  ])('%s', (_title, other, expected) => {
    const [before, after] = [base, { more: { summary: AT_ONE }, ...other }].map((options) =>
      statusObject(aStatus(options)),
    )
    expect(after && differenceOf(before, after)).toBe(expected)
  })

  it.each([
    ['held by 1 of 3 data planes', 'held by 2 of 5 data planes'],
    ['refused by a and 3 more: x', 'refused by a and 12 more: x'],
    ['refused by a (and 3 more)', 'refused by a'],
  ])('of counts is none: %s', (left, right) => {
    const [before, after] = [left, right].map((words) => statusObject(aStatus(rejectedBy(words))))
    expect(after && differenceOf(before, after)).toBe('none')
  })
})

describe('whose a status is', () => {
  const written = statusObject(aStatus(), 'here/svc-operator')
  it.each<[string, string | undefined, string]>([
    ['there is no status', undefined, 'urgent'],
    ['it is ours', 'here/svc-operator', 'none'],
    ['it is that of another one with our class: no quarrel', 'there/svc-operator', 'none'],
  ])('%s', (_title, operator, expected) => {
    expect(differenceOf(statusObject(aStatus(), operator), written)).toBe(expected)
  })
})

describe('what is released', () => {
  const RELEASED: StatusOptions = {
    className: 'nginx',
    isReleased: true,
    metadata: { generation: 2 },
    conditions: ['Accepted=True', 'Programmed=Unknown:Released', 'Ready=Unknown:Released'],
    recorded: {
      writtenBy: 'here/svc-operator',
      conditions: [aCondition('Accepted=True'), aCondition('Ready=True')],
    },
  }
  const conflict = (): ApiError => new ApiError('conflict', { status: 409 })
  const ours = { operator: 'here/svc-operator' }
  it.each<[string, ValueMap, ValueMap, number]>([
    ['it was labelled meanwhile', { gatewayClassName: 'nginx' }, ours, 2],
    ['its new operator was faster', { gatewayClassName: 'nginx' }, { operator: 'x/y' }, 1],
    ['it has gone on to a third class', { gatewayClassName: 'third' }, ours, 1],
    ['it came back', {}, ours, 1],
  ])('%s', async (_title, spec, status, writes) => {
    const { writer, applied, faults, body, pass } = aWriter(undefined, 5, 'here/svc-operator')
    Object.assign(body, { spec, status })
    faults.push(conflict())
    writer.lead()
    writer.update(statusOf(aStatus(RELEASED)))
    await pass(120_000)
    expect(applied).toHaveLength(writes)
    expect(applied.at(-1)?.object).toHaveProperty('status.operator', 'here/svc-operator')
    expect(writer.facts.pending).toBe(0)
  })

  it('what was validated of it before is not written over what its new operator says', async () => {
    const { writer, applied, faults, body, pass } = aWriter(undefined, 5, 'here/svc-operator')
    body.spec = { gatewayClassName: 'nginx' }
    faults.push(conflict())
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(120_000)
    expect(applied).toHaveLength(1)
  })
})

describe('a rollout of the gateways of a thousand documents', () => {
  const DOCUMENTS = 1_000
  const at = (gateways: string) =>
    many(DOCUMENTS, { more: { summary: { serving: '1', gateways } } })

  /** Four gateways, one after the other: a fifth comes, and one of the old ones goes. */
  const ROLLOUT = ['4/5', '5/5', '4/4']

  it.each([
    ['within a minute writes nothing', 4_000, 0],
    ['that takes five minutes writes each status once in a minute at most', 25_000, 5],
  ])(
    '%s',
    async (_title, stepMs, mostEach) => {
      const { writer, applied, pass } = aWriter()
      writer.lead()
      writer.update(at('4/4'))
      await pass(120_000)
      expect(applied).toHaveLength(DOCUMENTS)
      const startedMs = applied.at(-1)?.atMs ?? 0
      for (let gateway = 0; gateway < 4; gateway += 1) {
        for (const gateways of ROLLOUT) {
          writer.update(at(gateways))
          await pass(stepMs)
        }
      }
      await pass(120_000)
      const after = applied.slice(DOCUMENTS).filter(({ atMs }) => atMs > startedMs)
      const counts = new Map<string, number[]>()
      for (const { name, atMs } of after) counts.set(name, [...(counts.get(name) ?? []), atMs])
      expect(Math.max(0, ...[...counts.values()].map(({ length }) => length))).toBeLessThanOrEqual(
        mostEach,
      )
      for (const times of counts.values()) {
        const gaps = times.slice(1).map((atMs, i) => atMs - (times[i] ?? 0))
        expect(Math.min(Infinity, ...gaps)).toBeGreaterThanOrEqual(59_000)
      }
    },
    60_000,
  )

  it('ends with the count that is', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(at('4/4'))
    await pass(120_000)
    for (const gateways of ['4/5', '5/5']) {
      writer.update(at(gateways))
      await pass(10_000)
    }
    expect(writer.facts.pending).toBe(0)
    await pass(120_000)
    expect(applied).toHaveLength(2 * DOCUMENTS)
    expect(applied.at(-1)?.object).toHaveProperty('status.gateways', '5/5')
  }, 60_000)
})

describe('nothing is written', () => {
  it('where the API says it already', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    const good = aStatus({ more: { programmed: { generation: 1, digest: 'd' } } })
    writer.update(
      statusOf(
        aStatus({
          recorded: { conditions: good.conditions, programmed: { generation: 1, digest: 'd' } },
          more: { programmed: { generation: 1, digest: 'd' } },
        }),
        aStatus({
          name: 'bad',
          recorded: { conditions: good.conditions, errors: [PROBLEM], warnings: [] },
          more: { errors: [PROBLEM] },
        }),
      ),
    )
    await pass(10_000)
    expect(applied).toEqual([])
    expect(writer.facts.pending).toBe(0)
  })

  it('of what has changed back within a moment', async () => {
    const { writer, applied, pass } = aWriter()
    const recorded = { conditions: aStatus().conditions }
    writer.lead()
    writer.update(statusOf(aStatus({ recorded, conditions: ['Accepted=True'] })))
    await pass(50)
    writer.update(statusOf(aStatus({ recorded })))
    await pass(10_000)
    expect(applied).toEqual([])
  })

  it('again while the resource is read as it was before, or as it was written', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    const old = { conditions: [aCondition('Accepted=Unknown:Pending:x')] }
    for (const version of ['10', '10', 'w1']) {
      writer.update(statusOf(aStatus({ recorded: old, metadata: { resourceVersion: version } })))
      await pass(1_000)
    }
    expect(applied).toHaveLength(1)
    // Two writes later an earlier one is read.
    const rejected = { recorded: old, conditions: ['Accepted=False:Invalid:x'] }
    for (const version of ['w1', 'w1', '10']) {
      writer.update(statusOf(aStatus({ ...rejected, metadata: { resourceVersion: version } })))
      await pass(1_000)
    }
    expect(applied).toHaveLength(2)
  })

  it('where what we wrote comes back, however often, and the status is validated again without it', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    let conditions: StatusOptions['conditions'] & object = ['Accepted=True']
    const validated = aStatus({ conditions })
    writer.update(statusOf(validated))
    await pass(1_000)
    for (let turn = 1; turn <= 20; turn += 1) {
      writer.renew(
        readBack({ conditions: aStatus({ conditions }).conditions }, `w${applied.length}`),
      )
      await pass(1_000)
      expect(applied).toHaveLength(turn)
      // What data planes say: the result is the same, and so is the resource in it.
      const reason = turn % 2 === 0 ? 'Programmed=True' : 'Programmed=False:Pending:x'
      conditions = ['Accepted=True', reason]
      writer.update(statusOf({ ...aStatus({ conditions }), result: validated.result }))
      await pass(1_000)
      expect(applied).toHaveLength(turn + 1)
      expect(applied.at(-1)?.object).toHaveProperty('metadata.resourceVersion', `w${turn}`)
    }
  })

  it('for other words, until a minute after the last write', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    for (let i = 0; i < 200; i += 1) {
      writer.update(statusOf(aStatus(rejectedBy(`refused by plane-${i}: x`))))
      await pass(500)
    }
    expect(applied).toHaveLength(2)
    await pass(60_000)
    expect(applied).toHaveLength(3)
    expect(JSON.stringify(applied[2]?.object)).toContain('plane-199')
  })

  it('before the resources were read, and while another operator leads', async () => {
    const { writer, applied, pass } = aWriter()
    writer.update(many(3))
    await pass(1_000)
    writer.lead()
    writer.lead()
    await pass(1_000)
    expect(applied).toHaveLength(3)
    writer.update({ ...many(5), isReady: false })
    await pass(1_000)
    expect(applied).toHaveLength(3)
  })
})

describe('it is written again', () => {
  it('when somebody else has changed it', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(1_000)
    const recorded = { conditions: [aCondition('Accepted=False:Invalid:by hand')] }
    writer.update(statusOf(aStatus({ recorded, metadata: { resourceVersion: '77' } })))
    await pass(1_000)
    expect(applied).toHaveLength(2)
  })

  it('when somebody else has changed it, which alone is logged', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    const validated = aStatus()
    writer.update(statusOf(validated))
    await pass(1_000)
    writer.renew(readBack({ conditions: validated.conditions }, 'w1'))
    await pass(1_000)
    expect(applied).toHaveLength(1)
    writer.renew(readBack({ conditions: [aCondition('Accepted=False:Invalid:mine')] }, '12'))
    await pass(1_000)
    expect(applied).toHaveLength(2)
    expect(applied[1]?.object).toMatchObject({
      metadata: { resourceVersion: '12' },
      status: { conditions: validated.conditions },
    })
    // Another one of that name, or one that was not validated, is not ours to write to yet.
    writer.renew(readBack({ conditions: [] }, '13', { uid: 'other' }))
    writer.renew(readBack({ conditions: [] }, '14', { name: 'new' }))
    await pass(1_000)
    expect(applied).toHaveLength(2)
  })

  it('for another resource of the same name', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(1_000)
    writer.update(statusOf(aStatus({ metadata: { uid: 'another' } })))
    await pass(1_000)
    expect(applied.map(({ object }) => object['metadata'])).toMatchObject([
      { uid: 'uid-shop' },
      { uid: 'another' },
    ])
  })

  it('when it changes while it is being written: once, with the last of it', async () => {
    const { writer, applied, under, pass } = aWriter(createSilentLog(), 3_000)
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(200)
    for (const reason of ['Invalid', 'TooLarge', 'Conflicted']) {
      writer.update(statusOf(aStatus({ conditions: [`Accepted=False:${reason}:x`] })))
      await pass(300)
    }
    expect(applied).toHaveLength(1)
    await pass(10_000)
    expect(applied).toHaveLength(2)
    expect(under.most).toBe(1)
    expect(JSON.stringify(applied[1]?.object)).toContain('Conflicted')
  })
})

describe('the API is spared', () => {
  it('125 a second, whatever changes', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(many(300))
    await pass(1_100)
    expect(applied.length).toBeGreaterThan(100)
    expect(applied.length).toBeLessThanOrEqual(126)
    expect(writer.facts.pending).toBeGreaterThanOrEqual(174)
    await pass(5_000)
    expect(new Set(applied.map(({ name }) => name)).size).toBe(300)
  })

  it('one edit does not wait behind a thousand others, nor do they wait for edits', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(many(1000))
    await pass(1_000)
    const edit = aStatus({ name: 'edit' })
    writer.update(statusOf(...many(1000).resources.values(), edit))
    const before = applied.length
    await pass(300)
    expect(applied.slice(before).map(({ name }) => name)).toContain('team/edit')
    const names = new Set(applied.map(({ name }) => name))
    expect([names.has('team/d0'), names.has('team/d999')]).toEqual([true, true])
    await pass(26_000)
    expect(new Set(applied.map(({ name }) => name)).size).toBe(1001)
  })

  it('namespaces take turns: one that changes without end holds up no other', async () => {
    const { writer, applied, pass } = aWriter()
    const metadata = { namespace: 'hostile' }
    const crowd = [...many(300, { metadata }).resources.values()]
    const edits = (round: number) =>
      Array.from({ length: 5 }, (_, i) =>
        aStatus({ name: `edit${i}`, metadata: { ...metadata, generation: round } }),
      )
    const team = aStatus({ name: 'shop' })
    writer.lead()
    for (let round = 1; round <= 200; round += 1) {
      const hostile = [...crowd, ...edits(round)]
      // It neither came last, nor has it waited for longest.
      writer.update(round < 15 ? statusOf(...hostile) : statusOf(team, ...hostile))
      await pass(10)
    }
    const index = applied.findIndex(({ name }) => name === 'team/shop')
    expect(applied.length).toBeGreaterThan(70)
    expect([index > 0, index < 30]).toEqual([true, true])
  })

  it('sixteen at once, when it is slow', async () => {
    const { writer, under, pass } = aWriter(createSilentLog(), 20_000)
    writer.lead()
    writer.update(many(30))
    await pass(15_000)
    expect(under.most).toBe(16)
    await pass(100_000)
    expect(writer.facts.pending).toBe(0)
  })

  it('what goes away before its turn is not written', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(many(50))
    await pass(300)
    writer.update(statusOf())
    const { length } = applied
    await pass(10_000)
    expect(applied).toHaveLength(length)
    expect(writer.facts.pending).toBe(0)
  })
})

describe('a write fails', () => {
  it.each([0, 408, 429, 500, 503])('with %i: tried until it stands there', async (status) => {
    const { writer, applied, faults, pass } = aWriter()
    faults.push(...Array.from({ length: 6 }, () => new ApiError('no', { status })))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(1_000)
    expect(writer.facts).toMatchObject({ pending: 1, failing: 1 })
    await pass(60_000)
    expect(applied).toHaveLength(7)
    expect(writer.facts).toMatchObject({ pending: 0, failing: 0 })
  })

  it('since the API server is away: tried at once when it is back', async () => {
    const { writer, applied, faults, pass } = aWriter()
    writer.retry()
    faults.push(...Array.from({ length: 12 }, () => new ApiError('no', { status: 0 })))
    writer.lead()
    writer.update(statusOf(aStatus(), aStatus({ name: 'other' })))
    await pass(8_000)
    const { length } = applied
    expect(writer.facts).toMatchObject({ pending: 2, failing: 2 })
    faults.length = 0
    writer.retry()
    await pass(200)
    expect(applied).toHaveLength(length + 2)
    expect(writer.facts).toMatchObject({ pending: 0, failing: 0 })
    writer.retry()
    await pass(60_000)
    expect(applied).toHaveLength(length + 2)
  })

  it('since the resource has changed: at once, as it stands there now', async () => {
    const { writer, applied, faults, pass, looks } = aWriter()
    faults.push(new ApiError('conflict', { status: 409 }))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(200)
    expect(applied.map(({ object }) => object['metadata'])).toMatchObject([
      { resourceVersion: '10' },
      { resourceVersion: '99', uid: 'uid-shop' },
    ])
    // The next one goes on from what was written.
    writer.update(statusOf(aStatus({ conditions: ['Accepted=True'] })))
    await pass(1_000)
    expect(applied[2]?.object['metadata']).toMatchObject({ resourceVersion: 'w2' })
    expect(looks()).toBe(1)
  })

  it('since it changes all the time: tried until it stands there', async () => {
    const { writer, applied, faults, pass } = aWriter()
    faults.push(...Array.from({ length: 6 }, () => new ApiError('conflict', { status: 409 })))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(60_000)
    expect(applied).toHaveLength(7)
    expect(writer.facts).toMatchObject({ pending: 0, failing: 0 })
  })

  it('since another resource has its name: dropped, until that one is read', async () => {
    const { writer, applied, faults, pass, live } = aWriter()
    live.uid = 'another'
    faults.push(new ApiError('conflict', { status: 409 }))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(60_000)
    expect(applied).toHaveLength(1)
    writer.update(statusOf(aStatus({ metadata: { uid: 'another', resourceVersion: '99' } })))
    await pass(1_000)
    expect(applied).toHaveLength(2)
  })

  it('and not a second time when our turn has ended meanwhile', async () => {
    const { writer, applied, faults, pass } = aWriter(createSilentLog(), 1_000)
    faults.push(new ApiError('conflict', { status: 409 }))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(500)
    writer.follow()
    await pass(10_000)
    expect(applied).toHaveLength(1)
  })

  it('and what has changed meanwhile is what is written', async () => {
    const { writer, applied, faults, pass } = aWriter()
    faults.push(new ApiError('no', { status: 500, retryAfterMs: 10_000 }))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(1_000)
    writer.update(statusOf(aStatus({ conditions: ['Accepted=False:Invalid:x'] })))
    await pass(8_000)
    expect(applied).toHaveLength(1)
    await pass(10_000)
    expect(applied).toHaveLength(2)
    expect(JSON.stringify(applied[1]?.object)).toContain('Invalid')
  })

  it('since the resource has gone: not tried until it is read again', async () => {
    const { writer, applied, faults, pass } = aWriter()
    faults.push(new ApiError('gone', { status: 404 }))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(120_000)
    writer.update(statusOf(aStatus({ conditions: ['Accepted=True'] })))
    await pass(120_000)
    expect(applied).toHaveLength(1)
    expect(writer.facts.pending).toBe(0)
    writer.update(statusOf(aStatus({ metadata: { resourceVersion: '11' } })))
    await pass(1_000)
    expect(applied).toHaveLength(2)
  })

  it.each([403, 422])('with %i: logged once, and tried now and then', async (status) => {
    const lines: unknown[] = []
    const log: Log = { ...createSilentLog(), warn: (_message, fields) => lines.push(fields) }
    const { writer, applied, faults, pass } = aWriter(log)
    faults.push(...Array.from({ length: 6 }, () => new ApiError('no', { status })))
    writer.lead()
    writer.update(many(3))
    await pass(10_000)
    expect(applied).toHaveLength(3)
    expect(lines).toMatchObject([{ kind: 'ApiSpecification', namespace: 'team', object: 'd0' }])
    await pass(180_000)
    expect(applied).toHaveLength(9)
    expect(lines).toHaveLength(1)
    expect(writer.facts).toMatchObject({ pending: 0, failing: 0 })
  })

  it('by an error of ours: logged, and tried slowly', async () => {
    const { writer, applied, faults, pass } = aWriter()
    faults.push(new TypeError('a bug'))
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(20_000)
    expect(applied).toHaveLength(1)
    await pass(60_000)
    expect(applied).toHaveLength(2)
  })

  it('and waits as long as the server says', () => {
    const error = new ApiError('no', { status: 429, retryAfterMs: 45_000 })
    expect(afterFailure(error, 0, () => 0)).toEqual({ next: 'retry', delayMs: 45_000 })
    expect(afterFailure(new ApiError('no', { status: 0 }), 30, () => 1)).toEqual({
      next: 'retry',
      delayMs: 30_000,
    })
  })
})

describe('our leader term is over', () => {
  it('nothing more is written, and a response that comes then is forgotten', async () => {
    const { writer, applied, faults, pass } = aWriter(createSilentLog(), 2_000)
    faults.push(new ApiError('no', { status: 500 }))
    writer.lead()
    writer.update(many(20))
    await pass(400)
    const { length } = applied
    writer.follow()
    writer.update(many(20))
    await pass(120_000)
    expect(applied).toHaveLength(length)
    expect(writer.facts).toMatchObject({ pending: 0, failing: 0 })
  })

  it('what the next turn finds in the API is what counts, not what was written in this one', async () => {
    const { writer, applied, pass } = aWriter()
    writer.lead()
    writer.update(statusOf(aStatus()))
    await pass(1_000)
    writer.follow()
    writer.lead()
    await pass(1_000)
    expect(applied).toHaveLength(1)
    writer.update(statusOf(aStatus()))
    await pass(1_000)
    expect(applied).toHaveLength(2)
  })
})
