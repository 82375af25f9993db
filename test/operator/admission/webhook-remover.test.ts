// What becomes of the configuration for Pods when sidecars are turned off, on a fake API and a clock in our hand.

import { describe, expect, it } from '@jest/globals'
import { injectConfiguration } from '../../../operator/admission/webhook-configuration.ts'
import { WebhookRemover } from '../../../operator/admission/webhook-remover.ts'
import { ApiError, TYPES } from '../../../operator/kubernetes/client/api.ts'
import { isMap, type ValueMap } from '../../../language/expression/value.ts'
import { createLog } from '../../../telemetry/log.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { settled } from '../../support/settled.ts'

const OURS = { service: { namespace: 'system', name: 'hook' } }
const MADE_FROM = { 'gateway.svc.dev/made-from': '0123456789abcdef' }

interface Standing {
  readonly target?: { service: { namespace: string; name: string } } | { url: string }
  readonly annotations?: ValueMap
  /** Before this program began; negative: after. */
  readonly ageMs?: number
}

const START_MS = Date.UTC(2026, 0, 1)

const configuration = ({
  target = OURS,
  annotations = MADE_FROM,
  ageMs = 60_000,
}: Standing): ValueMap => {
  const made = injectConfiguration({
    name: 'svc-gateway',
    target,
    caBundle: 'pem',
    namespaces: 'all',
    operatorNamespace: 'system',
  })
  const { metadata } = made
  const creationTimestamp = new Date(START_MS - ageMs).toISOString()
  const facts = { annotations, uid: 'u1', creationTimestamp }
  return { ...made, metadata: { ...(isMap(metadata) ? metadata : {}), ...facts } }
}

const aWorld = (object: ValueMap | undefined) => {
  const clock = createManualClock({ startMs: START_MS })
  const calls: string[] = []
  const lines: string[] = []
  const state = { object, fault: undefined as ApiError | undefined }
  const call = async (name: string): Promise<void> => {
    await settled()
    calls.push(name)
    if (state.fault !== undefined) throw state.fault
    if (state.object === undefined) throw new ApiError('none', { status: 404 })
  }
  const remover = new WebhookRemover({
    api: {
      get: async () => {
        await call('get')
        return state.object ?? {}
      },
      delete: async (_type, { name }, uid) => {
        await call(`delete ${name} ${String(uid)}`)
        state.object = undefined
      },
    },
    type: TYPES.mutatingWebhookConfigurations,
    name: 'svc-gateway',
    made: configuration({}),
    clock,
    log: createLog({
      level: 'info',
      name: 't',
      destination: { write: (line) => void lines.push(line) },
    }),
  })
  const rest = async (): Promise<void> => {
    for (let at = 0; at < 20; at += 1) await settled()
  }
  return { clock, calls, lines, state, remover, rest }
}

describe('the configuration for Pods, without sidecars', () => {
  it('is removed by the leader, once, and by no other replica', async () => {
    const { clock, calls, lines, remover, rest } = aWorld(configuration({}))
    await rest()
    expect(calls).toEqual([])
    remover.lead()
    await rest()
    expect(calls).toEqual(['get', 'delete svc-gateway u1'])
    expect(lines.join()).toContain('MutatingWebhookConfiguration')
    clock.advance(600_000)
    await rest()
    expect([calls.length, clock.pending]).toEqual([2, 0])
  })

  it.each<[string, Standing]>([
    ['leads to another Service', { target: { service: { namespace: 'other', name: 'hook' } } }],
    ['leads to a URL', { target: { url: 'https://elsewhere:9443' } }],
    ['was made by hand', { annotations: {} }],
    ['was made after this operator began', { ageMs: -1000 }],
  ])('stays where it %s', async (_, standing) => {
    const { calls, state, remover, rest } = aWorld(configuration(standing))
    remover.lead()
    await rest()
    expect(calls).toEqual(['get'])
    expect(state.object).toBeDefined()
  })

  it.each([404, 403])(
    'that is not there to be seen (%i) is not requested again',
    async (status) => {
      const { clock, calls, lines, state, remover, rest } = aWorld(configuration({}))
      state.fault = new ApiError('no', { status })
      remover.lead()
      await rest()
      expect([calls, lines, clock.pending]).toEqual([['get'], [], 0])
    },
  )

  it('is removed later where the API server does not answer, which is logged once', async () => {
    const { clock, lines, state, remover, rest } = aWorld(configuration({}))
    state.fault = new ApiError('away', { status: 503 })
    remover.lead()
    for (let at = 0; at < 5; at += 1) {
      await rest()
      clock.advance(31_000)
    }
    expect([lines.length, state.object === undefined]).toEqual([1, false])
    state.fault = undefined
    await rest()
    clock.advance(31_000)
    await rest()
    expect(state.object).toBeUndefined()
  })

  it('is not removed by a turn that is over', async () => {
    const { calls, remover, rest } = aWorld(configuration({}))
    remover.lead()
    await settled()
    remover.follow()
    await rest()
    expect(calls).toEqual(['get'])
    await remover.stop()
  })
})
