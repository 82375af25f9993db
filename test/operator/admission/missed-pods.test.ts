// Pods that ask for a gateway and came without one, on a fake API and a clock in our hand.

import { describe, expect, it } from '@jest/globals'
import { MissedPods, type MissedPodsOptions } from '../../../operator/admission/missed-pods.ts'
import { ApiError, type ListOptions, TYPES } from '../../../operator/kubernetes/client/api.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { createLog } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'

const OF_POD = 'gateway.svc.dev/inject=true,!gateway.svc.dev/data-plane'
const OF_NAMESPACE = 'gateway.svc.dev/inject notin (true,false),!gateway.svc.dev/data-plane'

const pod = (place: string, more: ValueMap = {}): ValueMap => {
  const [namespace = '', name = ''] = place.split('/')
  return { metadata: { namespace, name, ...more } }
}

interface State {
  fault: ApiError | undefined
  labelled: readonly string[]
  /** By namespace, or none, and selector. */
  pods: Readonly<Record<string, readonly ValueMap[]>>
}

const aWorld = (given: Partial<State>, options: Partial<MissedPodsOptions> = {}) => {
  const clock = createManualClock()
  const lines: string[] = []
  const asked: ListOptions[] = []
  const state: State = { fault: undefined, labelled: [], pods: {}, ...given }
  const missed = new MissedPods({
    api: {
      list: async (type, list) => {
        await settled()
        asked.push(list)
        if (state.fault !== undefined) throw state.fault
        const items =
          type === TYPES.namespaces
            ? state.labelled.map((name) => ({ metadata: { name } }))
            : (state.pods[`${list.namespace ?? ''} ${list.labelSelector ?? ''}`] ?? [])
        return { resourceVersion: '1', items }
      },
    },
    operatorNamespace: 'system',
    namespaces: 'all',
    clock,
    log: createLog({
      level: 'info',
      name: 't',
      destination: { write: (line) => void lines.push(line) },
    }),
    ...options,
  })
  const rest = async (): Promise<void> => {
    for (let at = 0; at < 40; at += 1) await settled()
  }
  const later = async (): Promise<void> => {
    clock.advance(301_000)
    await rest()
  }
  return { clock, lines, asked, state, missed, rest, later }
}

describe('pods without the gateway that they ask for', () => {
  it('are known to the leader, by their own label and by that of their namespace', async () => {
    const { missed, rest, lines, asked } = aWorld({
      labelled: ['shop'],
      pods: {
        [` ${OF_POD}`]: [pod('billing/a-1')],
        [`shop ${OF_NAMESPACE}`]: [pod('shop/b-1'), pod('shop/b-2')],
      },
    })
    expect([missed.count, missed.note]).toEqual([undefined, undefined])
    missed.lead()
    await rest()
    expect(missed.count).toBe(3)
    expect(missed.note).toMatch(/have none: billing\/a-1, shop\/b-1, shop\/b-2\. .*rollout restart/)
    expect(
      lines.filter((line) => line.includes('pods that ask for a gateway have none')),
    ).toHaveLength(1)
    expect(asked.every(({ onlyMetadata }) => onlyMetadata)).toBe(true)
    missed.follow()
    expect([missed.count, missed.note]).toEqual([undefined, undefined])
  })

  it('are reported once, and again when there are none', async () => {
    const { missed, state, rest, later, lines } = aWorld({
      pods: { [` ${OF_POD}`]: [pod('billing/a-1')] },
    })
    missed.lead()
    await rest()
    await later()
    expect(lines).toHaveLength(1)
    state.pods = {}
    await later()
    expect([missed.count, missed.note, lines.length]).toEqual([0, undefined, 2])
  })

  it('are none of those that do not ask for a sidecar, or that go', async () => {
    const { missed, rest } = aWorld({
      labelled: ['system', 'kube-system'],
      pods: {
        [` ${OF_POD}`]: [
          pod('system/a'),
          pod('kube-system/b'),
          pod('shop/c', { deletionTimestamp: '2026-01-01T00:00:00Z' }),
          pod('shop/d', { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
        ],
        [`system ${OF_NAMESPACE}`]: [pod('system/e')],
        [`kube-system ${OF_NAMESPACE}`]: [pod('kube-system/f')],
      },
    })
    missed.lead()
    await rest()
    expect(missed.count).toBe(0)
  })

  it('are looked for where sidecars may be alone', async () => {
    const { missed, rest, asked } = aWorld(
      { labelled: ['shop', 'constructor'] },
      { namespaces: ['shop', 'billing'] },
    )
    missed.lead()
    await rest()
    const places = asked.filter(({ labelSelector }) => labelSelector?.includes('data-plane'))
    expect(places.map(({ namespace }) => namespace)).toEqual(['shop', 'billing', 'shop'])
  })

  it('are counted to a bound, and few are named', async () => {
    const many = Array.from({ length: 1500 }, (_, index) => pod(`shop/p-${index}`))
    const { missed, rest, asked } = aWorld({
      labelled: ['a', 'b'],
      pods: { [` ${OF_POD}`]: many },
    })
    missed.lead()
    await rest()
    expect([missed.count, asked.length]).toEqual([1000, 2])
    expect(missed.note?.length).toBeLessThan(400)
  })

  it('stay what they were while the API server does not answer, which is logged once', async () => {
    const { missed, state, rest, later, lines } = aWorld({
      pods: { [` ${OF_POD}`]: [pod('billing/a-1')] },
    })
    missed.lead()
    await rest()
    state.fault = new ApiError('away', { status: 503 })
    await later()
    await later()
    expect([missed.count, lines.length]).toEqual([1, 2])
    state.fault = undefined
    state.pods = {}
    await later()
    expect(missed.count).toBe(0)
  })

  it('are not looked for any more after the turn, or the end', async () => {
    const { missed, rest, later, asked, clock } = aWorld({})
    missed.lead()
    await rest()
    const before = asked.length
    missed.follow()
    await later()
    expect([asked.length, clock.pending]).toEqual([before, 0])
    missed.lead()
    await missed.stop()
    await later()
    expect(clock.pending).toBe(0)
    expect(missed.count).toBeUndefined()
  })
})
