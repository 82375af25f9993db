import { describe, expect, it } from '@jest/globals'
import { microTime } from '../../../../operator/kubernetes/micro-time.ts'
import {
  leaseObject as leaseObjectIn,
  readLease as readLeaseIn,
  type LeaseClaim,
  type LeaseRecord,
} from '../../../../operator/kubernetes/leader-election/lease.ts'
import { LEASE_FORMAT as FORMAT } from '../../../../operator/resource/lease-format.ts'
import { nextStep } from '../../../../operator/kubernetes/leader-election/decision.ts'
import type { ValueMap } from '../../../../language/expression/value.ts'

const EPOCH_ANNOTATION = 'gateway.svc.dev/epoch'

const readLease = (object: ValueMap): LeaseRecord => readLeaseIn(object, FORMAT)

const leaseObject = (
  name: typeof NAME,
  claim: LeaseClaim,
  before: LeaseRecord | undefined,
): ValueMap => leaseObjectIn(claim, { name, before, format: FORMAT })

const NAME = { namespace: 'svc', name: 'lease' }
const T0 = Date.UTC(2026, 10, 21, 21, 14, 0, 123)

const held = (spec: ValueMap = {}, metadata: ValueMap = {}): ValueMap => ({
  metadata: { name: 'lease', uid: 'u1', resourceVersion: '7', ...metadata },
  spec: { holderIdentity: 'a', leaseDurationSeconds: 15, leaseTransitions: 4, ...spec },
})

describe('a Lease is read', () => {
  it.each<[string, ValueMap, object]>([
    ['as others write it', held(), { holder: 'a', durationMs: 15_000, transitions: 4, epoch: 4 }],
    ['without a spec', { metadata: { uid: 'u' } }, { holder: '', durationMs: undefined, epoch: 0 }],
    ['empty', {}, { holder: '', uid: '', epoch: 0 }],
    [
      'with an epoch that no int32 holds',
      held({}, { annotations: { [EPOCH_ANNOTATION]: '1795000000001' } }),
      { transitions: 4, epoch: 1_795_000_000_001 },
    ],
    [
      'with an epoch that transitions have overtaken',
      held({}, { annotations: { [EPOCH_ANNOTATION]: '3' } }),
      { epoch: 4 },
    ],
    ...['-1', '1e3', 'x', '', '99999999999999999999', '9007199254740991', '1.5'].map(
      (text): [string, ValueMap, object] => [
        `with the epoch '${text}'`,
        held({}, { annotations: { [EPOCH_ANNOTATION]: text } }),
        { epoch: 4 },
      ],
    ),
    [
      'with members of other types',
      { metadata: { uid: 3 }, spec: { holderIdentity: 1, leaseTransitions: 'x' } },
      { holder: '', uid: '', epoch: 0 },
    ],
    ...[
      ['2026-11-21T21:14:00.123000Z', T0],
      ['yesterday', undefined],
      ['2'.repeat(100_000), undefined],
    ].map(([acquireTime, acquiredAtMs]): [string, ValueMap, object] => [
      `held since ${String(acquireTime).slice(0, 30)}`,
      held({ acquireTime: acquireTime ?? null }),
      { acquiredAtMs },
    ]),
    [
      'with reserved words',
      held({ holderIdentity: '__proto__' }, { annotations: { constructor: '9' } }),
      { holder: '__proto__', epoch: 4 },
    ],
  ])('%s', (_title, object, expected) => {
    expect(readLease(object)).toMatchObject(expected)
  })

  it('has another fingerprint after every renewal and for every uid, not after an edit of labels', () => {
    const print = readLease(held()).fingerprint
    expect(readLease(held({ renewTime: microTime(T0) })).fingerprint).not.toBe(print)
    expect(readLease(held({}, { uid: 'u2' })).fingerprint).not.toBe(print)
    expect(readLease(held({}, { resourceVersion: '8', labels: { a: 'b' } })).fingerprint).toBe(
      print,
    )
  })
})

describe('a claim is written', () => {
  const claim = { holder: 'b', durationMs: 15_000, epoch: 5, renewedAtMs: T0 }

  it('into a new Lease where there is none', () => {
    expect(leaseObject(NAME, { ...claim, acquiredAtMs: T0 }, undefined)).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        ...NAME,
        labels: { 'app.kubernetes.io/part-of': 'svc-gateway' },
        annotations: {},
      },
      spec: {
        holderIdentity: 'b',
        leaseDurationSeconds: 15,
        leaseTransitions: 5,
        acquireTime: '2026-11-21T21:14:00.123000Z',
        renewTime: '2026-11-21T21:14:00.123000Z',
      },
    })
  })

  it('over what stands there, keeping what it does not know', () => {
    const before = held(
      { acquireTime: microTime(1), strategy: 'x' },
      { labels: { l: '1' }, annotations: { mine: '1' }, managedFields: [] },
    )
    expect(leaseObject(NAME, claim, readLease(before))).toMatchObject({
      metadata: { uid: 'u1', resourceVersion: '7', labels: { l: '1' }, annotations: { mine: '1' } },
      spec: { acquireTime: microTime(1), strategy: 'x', leaseTransitions: 5 },
    })
    expect(leaseObject(NAME, claim, readLease(before))['metadata']).not.toHaveProperty(
      'managedFields',
    )
  })

  const anew = { acquiredAtMs: T0 }
  it.each<[string, { epoch: number; acquiredAtMs?: number }, ValueMap, number]>([
    ['fits', { epoch: 2 ** 31 - 1, ...anew }, held(), 2 ** 31 - 1],
    ['does not fit, another holder', { epoch: 2 ** 31, ...anew }, held(), 5],
    ['does not fit, the same holder', { epoch: 1_795_000_000_001 }, held(), 4],
    [
      'has used up what an int32 can count',
      { epoch: 2 ** 31, ...anew },
      held({ leaseTransitions: 2 ** 31 - 1 }),
      2 ** 31 - 1,
    ],
  ])('with an epoch that %s', (_title, change, before, leaseTransitions) => {
    const object = leaseObject(NAME, { ...claim, ...change }, readLease(before))
    expect(object['spec']).toMatchObject({ leaseTransitions })
    expect(readLease(object).epoch).toBe(change.epoch)
  })

  it('takes whole seconds of duration, never none', () => {
    const seconds = (durationMs: number): unknown =>
      readLease(leaseObject(NAME, { ...claim, durationMs }, undefined)).durationMs
    expect([seconds(200), seconds(1000), seconds(1500)]).toEqual([1000, 1000, 2000])
  })
})

describe('the next step', () => {
  const others = readLease(held())
  const ours = readLease(held({ holderIdentity: 'me' }))
  const nobodys = readLease(held({ holderIdentity: '' }))
  it.each<[string, object, string]>([
    ['a candidate sees a holder', { record: others }, 'wait'],
    ['… that has not renewed for its duration', { record: others, unchangedMs: 15_000 }, 'acquire'],
    ['… or almost', { record: others, unchangedMs: 14_999 }, 'wait'],
    ['a candidate sees that it was given back', { record: nobodys }, 'acquire'],
    ['a candidate sees none', { record: undefined }, 'wait'],
    [
      '… for so long that it is not created again',
      { record: undefined, unchangedMs: 4_000 },
      'acquire',
    ],
    ['a candidate sees itself, by compare-and-swap', { record: ours, trustedUid: 'u1' }, 'renew'],
    ['a candidate sees itself on a Lease it does not know', { record: ours }, 'wait'],
    ['… or on one that was made anew', { record: ours, trustedUid: 'u0' }, 'wait'],
    ['the leader sees itself', { record: ours, isLeading: true }, 'renew'],
    ['the leader sees none', { record: undefined, isLeading: true }, 'renew'],
    ['the leader sees another', { record: others, isLeading: true }, 'wait'],
    [
      'the leader sees that its name was taken out',
      { record: nobodys, isLeading: true },
      'acquire',
    ],
  ])('%s', (_title, view, step) => {
    expect(
      nextStep({
        record: undefined,
        identity: 'me',
        isLeading: false,
        trustedUid: undefined,
        unchangedMs: 0,
        expiresMs: 15_000,
        recreatedMs: 4_000,
        ...view,
      }),
    ).toBe(step)
  })
})
