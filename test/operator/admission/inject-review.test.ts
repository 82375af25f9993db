// Requests for pods of this and that namespace in: who gets a patch, whose certificate is made, and what is said where
// it can't be.

import { describe, expect, it } from '@jest/globals'
import { createInjector, type InjectorOptions } from '../../../operator/admission/inject-review.ts'
import { readSidecarSettings } from '../../../operator/admission/inject-settings.ts'
import { type AdmissionRequest, readReview } from '../../../operator/admission/review.ts'
import { createLog } from '../../../telemetry/log.ts'
import { createManualClock, type ManualClock } from '../../support/manual-clock.ts'

interface Rig {
  readonly seeded: string[]
  readonly lines: string[]
  readonly clock: ManualClock
  readonly admit: (request: AdmissionRequest) => ReturnType<ReturnType<typeof createInjector>>
}

const aRig = (more: Partial<InjectorOptions> = {}): Rig => {
  const seeded: string[] = []
  const lines: string[] = []
  const clock = createManualClock()
  const admit = createInjector({
    manager: 'svc-operator',
    settings: () => {
      const read = readSidecarSettings({ image: 'gateway:1' })
      return 'settings' in read ? Promise.resolve(read.settings) : Promise.reject(new Error('no'))
    },
    ensureNamespaceCertificate: (namespace) => {
      seeded.push(namespace)
      return Promise.resolve(undefined)
    },
    operatorNamespace: 'gateways',
    namespaces: 'all',
    clock,
    log: createLog({
      level: 'warn',
      name: 'test',
      destination: { write: (line) => lines.push(line) },
    }),
    ...more,
  })
  return { seeded, lines, clock, admit }
}

const POD = {
  metadata: { generateName: 'app-', labels: { 'gateway.svc.dev/inject': 'true' } },
  spec: { containers: [{ name: 'app', image: 'app:1' }] },
}

const aRequest = (more: object = {}): AdmissionRequest => {
  const review = readReview({
    apiVersion: 'admission.k8s.io/v1',
    request: {
      uid: '1',
      kind: { group: '', version: 'v1', kind: 'Pod' },
      operation: 'CREATE',
      namespace: 'shop',
      object: POD,
      ...more,
    },
  })
  if (review === undefined) throw new Error('no review')
  return review
}

const UNCHANGED = { allowed: true, warnings: [] }

describe('a pod', () => {
  it('gets its gateway, and its namespace a certificate', async () => {
    const rig = aRig()
    const { allowed, warnings, ...rest } = await rig.admit(aRequest())
    expect({ allowed, warnings, isPatched: 'patch' in rest }).toEqual({
      ...UNCHANGED,
      isPatched: true,
    })
    expect(rig.seeded).toEqual(['shop'])
  })

  it('that is tried out leaves no certificate', async () => {
    const rig = aRig()
    expect(await rig.admit(aRequest({ dryRun: true }))).toHaveProperty('patch')
    expect(rig.seeded).toEqual([])
  })

  // Any client that reaches the port may ask.
  it.each<[string, object, Partial<InjectorOptions>]>([
    ['of kube-system', { namespace: 'kube-system' }, {}],
    ["of the operator's namespace", { namespace: 'gateways' }, {}],
    ['of a namespace that is not served', {}, { namespaces: ['blog'] }],
    ['of no namespace', { namespace: '' }, {}],
    ['of a namespace that none can be', { namespace: 'x'.repeat(64) }, {}],
    ['of a path', { namespace: '../secrets' }, {}],
    ['that is changed', { operation: 'UPDATE' }, {}],
    ['that is bound to a node', { subResource: 'binding' }, {}],
    ['that is none', { kind: { group: 'apps', kind: 'Deployment' } }, {}],
  ])('%s is left alone', async (_, more, options) => {
    const rig = aRig(options)
    expect(await rig.admit(aRequest(more))).toEqual(UNCHANGED)
    expect(rig.seeded).toEqual([])
    expect(rig.lines).toEqual([])
  })

  it('learns why it begins without a certificate, in pieces that are not cut', async () => {
    const grant = `kubectl create rolebinding ${'x'.repeat(300)}`
    const rig = aRig({
      ensureNamespaceCertificate: () => Promise.resolve(`may not; allow it with: ${grant}`),
    })
    const { warnings } = await rig.admit(aRequest())
    expect(warnings.every((each) => each.length <= 250)).toBe(true)
    expect(warnings.join('')).toContain('x'.repeat(300))
  })

  it('does not wait for an API server that is slow', async () => {
    const rig = aRig({ ensureNamespaceCertificate: () => new Promise(() => undefined) })
    const response = rig.admit(aRequest())
    for (let i = 0; i < 5; i += 1) await Promise.resolve()
    rig.clock.advance(2000)
    expect((await response).warnings.join()).toContain('the API server is slow')
  })

  it('is let in as it is where the operator fails', async () => {
    const rig = aRig({ settings: () => Promise.reject(new Error('broken')) })
    const response = await rig.admit(aRequest())
    expect(response).toMatchObject({ allowed: true })
    expect(response).not.toHaveProperty('patch')
    expect(rig.lines.join('')).toContain('broken')
  })

  it('with control characters in an annotation is warned in a line that a header can hold', async () => {
    const annotations = { 'gateway.svc.dev/memory-limit': 'a\u0017\r\nb\ud800' }
    const object = { ...POD, metadata: { ...POD.metadata, annotations } }
    const { warnings } = await aRig().admit(aRequest({ object }))
    expect(warnings).toEqual([expect.stringMatching(/^[ -~]* is 'a b '; [ -~]*$/)])
  })

  it('with the name of a container that is endless is answered in a few words', async () => {
    const containers = [{ name: 'x'.repeat(1_000_000), ports: [{ containerPort: 18080 }] }]
    const response = await aRig().admit(aRequest({ object: { ...POD, spec: { containers } } }))
    expect(response.warnings.length).toBeLessThan(5)
  })
})
