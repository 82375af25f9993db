// Calls through the bridge, by every transport and serializer: whole results, whole errors, and that nothing a
// callee or a caller does ends the session that all calls share.

import type { Value } from '../../../../language/expression/value.ts'
import { settled } from '../../../support/settled.ts'
import { idOf, register, unregister } from '../../../support/wamp-peer.ts'
import { errorOf } from '../../router/contract-case.ts'
import type { BridgeCase, BridgeContext, BridgeWire } from '../bridge-case.ts'
import { callBy, roundTrip, startCall } from '../bridge-rig.ts'

const MIB = 1 << 20

const nested = (levels: number): Value => (levels === 0 ? 'deep' : [nested(levels - 1)])

const ARGS: readonly Value[] = [
  1,
  -3,
  1.5,
  2 ** 40,
  'é😀',
  'a\u0000b',
  null,
  [true, []],
  nested(60),
]
const KWARGS = { a: { b: [] }, constructor: 1, '': 2, 'a.b': { c: null } }

/**
 * Just under the limit of 16 MiB for each transport, once as text and once as bytes. Elsewhere what takes many reads
 * and the longest form of a length: 15 MiB take a second.
 */
const largestMebibytes = ({ transport, serializer }: BridgeWire): number =>
  serializer === (transport === 'ws' ? 'json' : 'msgpack') ? 15 : 1

export const callCases = (wire: BridgeWire): readonly BridgeCase[] => [
  ...CASES,
  sized(largestMebibytes(wire)),
]

const CASES: readonly BridgeCase[] = [
  {
    name: 'args and kwargs arrive whole, both ways',
    same: { args: ARGS, kwargs: KWARGS },
    run: async ({ rig, peer, uri }) => {
      await register(peer, uri, ({ args, kwargs }) => ({ args, kwargs }))
      return callBy(rig.client, uri, { args: ARGS, kwargs: KWARGS })
    },
  },
  {
    name: 'an empty result',
    same: {},
    run: async ({ rig, peer, uri }) => {
      await register(peer, uri, () => ({}))
      return callBy(rig.client, uri)
    },
  },
  {
    name: 'details of the result',
    each: { embedded: [], nexus: [], crossbar: ['callee', 'callee_authid', 'callee_authrole'] },
    run: async ({ rig, peer, uri }) => {
      await register(peer, uri, () => ({}))
      const call = startCall(rig.client, uri)
      await call.settled
      return Object.keys(call.details()).sort()
    },
  },
  {
    name: "the callee's error arrives whole",
    same: { error: 'com.example.error.out_of_stock', args: ['ZPK1972', 3], kwargs: { left: 0 } },
    run: async ({ rig, peer, uri }) => {
      const error = 'com.example.error.out_of_stock'
      await register(peer, uri, () => ({ error, args: ['ZPK1972', 3], kwargs: { left: 0 } }))
      return callBy(rig.client, uri)
    },
  },
  {
    name: 'errors of the router',
    same: ['wamp.error.no_such_procedure', 'wamp.error.not_authorized'],
    run: async ({ rig, uri }) => [
      errorOf(await callBy(rig.client, uri)),
      errorOf(await callBy(rig.client, 'com.example.forbidden.x')),
    ],
  },
  {
    name: 'the callee goes during a call',
    same: ['wamp.error.canceled', 'wamp.error.no_such_procedure'],
    run: async ({ rig, open, uri }) => {
      const dying = await open()
      await register(dying, uri, () => {
        dying.close()
        return undefined
      })
      return [errorOf(await callBy(rig.client, uri)), errorOf(await callBy(rig.client, uri))]
    },
  },
  {
    name: 'odd but lawful URIs are no such procedure, and the session stays',
    same: { errors: ['wamp.error.no_such_procedure'], isSame: true },
    run: async (context) => {
      const long = `com.${'x'.repeat(5000)}`
      const uris = ['com.example.ü', 'COM.Example-1_2', 'a', '__proto__', 'a.constructor', long]
      const errors = new Set<unknown>()
      const isSame = await keepsSession(context, async () => {
        for (const uri of uris) errors.add(errorOf(await callBy(context.rig.client, uri)))
      })
      return { errors: [...errors], isSame }
    },
  },
  {
    name: 'progressive results, then the result',
    same: { progress: [[1], [2]], outcome: { args: [3] } },
    run: async ({ rig, peer, uri }) => {
      await register(peer, uri, ({ progress, details }) => {
        if (details['receive_progress'] === true) for (const n of [1, 2]) progress([n])
        return { args: [3] }
      })
      const call = startCall(rig.client, uri, {}, true)
      const outcome = await call.settled
      return { progress: call.progress.map(({ args }) => args), outcome }
    },
  },
  ...[true, false].map((isAware): BridgeCase => ({
    name: `cancelled, and answered late by a callee ${isAware ? 'with' : 'without'} call_canceling`,
    same: { times: 0, isSame: true, next: { args: ['next'] } },
    run: async (context) => {
      const { rig, open, uri } = context
      const callee = isAware ? await open() : await open({ roles: { callee: {} } })
      const asked = Promise.withResolvers<undefined>()
      const late = Promise.withResolvers<undefined>()
      await register(callee, uri, async ({ args }) => {
        if (args.length > 0) return { args }
        asked.resolve(undefined)
        await late.promise
        return { args: ['late'] }
      })
      let times = 0
      const isSame = await keepsSession(context, async () => {
        const call = startCall(rig.client, uri)
        await asked.promise
        call.cancel()
        call.cancel()
        await roundTrip(rig)
        late.resolve(undefined)
        await settled()
        // Once this is answered, the router has dealt with the response that came late.
        idOf(await register(callee, `${uri}.behind`, () => ({})))
        await roundTrip(rig)
        times = call.times()
      })
      return { times, isSame, next: await callBy(rig.client, uri, { args: ['next'] }) }
    },
  })),
  {
    name: 'arguments of more than 16 MiB fail their call and no other',
    same: { outcome: 'wamp.error.invalid_argument', isSame: true, next: { args: ['next'] } },
    run: async (context) => {
      const { rig, peer, uri } = context
      await register(peer, uri, ({ args }) => ({ args }))
      let outcome: unknown
      const isSame = await keepsSession(context, async () => {
        outcome = errorOf(await callBy(rig.client, uri, { args: ['x'.repeat(17 * MIB)] }))
      })
      return { outcome, isSame, next: await callBy(rig.client, uri, { args: ['next'] }) }
    },
  },
  {
    name: 'bytes both ways, between peers of the same serializer',
    same: { args: [Uint8Array.of(0, 255, 128), Uint8Array.of()], seen: [3, 0] },
    run: async ({ rig, open, wire, uri }) => {
      // JSON has no bytes: there they go as base64 behind U+0000, which a peer with msgpack gets as bytes,
      // unless the router leaves that to its clients.
      const serializer = wire.serializer === 'json' ? 'json' : wire.serializer
      const callee = await open({ serializer })
      const seen: unknown[] = []
      await register(callee, uri, ({ args }) => {
        seen.push(...args.map(bytesIn))
        return { args }
      })
      const sent = [Uint8Array.of(0, 255, 128), Uint8Array.of()]
      const outcome = await callBy(rig.client, uri, { args: sent })
      return { args: Array.isArray(outcome.args) ? outcome.args.map(plainBytes) : outcome, seen }
    },
  },
  {
    name: 'a callee that is unregistered is gone for the next call',
    same: [{ args: [1] }, 'wamp.error.no_such_procedure'],
    run: async ({ rig, peer, uri }) => {
      const id = idOf(await register(peer, uri, ({ args }) => ({ args })))
      const first = await callBy(rig.client, uri, { args: [1] })
      await unregister(peer, id)
      return [first, errorOf(await callBy(rig.client, uri))]
    },
  },
]

function sized(mebibytes: number): BridgeCase {
  return {
    name: `${mebibytes} MiB of arguments there and back`,
    same: { args: [true] },
    run: async ({ rig, open, uri }) => {
      const callee = await open()
      await register(callee, uri, ({ args }) => ({ args }))
      const text = 'x'.repeat(mebibytes * MIB)
      const outcome = await callBy(rig.client, uri, { args: [text] })
      return { args: Array.isArray(outcome.args) ? [outcome.args[0] === text] : outcome }
    },
  }
}

/** How many bytes there are in what a peer was sent. */
const bytesIn = (value: Value): number => {
  if (value instanceof Uint8Array) return value.length
  return typeof value === 'string' ? Buffer.from(value.slice(1), 'base64').length : -1
}

const plainBytes = (value: Value): unknown =>
  value instanceof Uint8Array ? Uint8Array.from(value) : value

/** Whether no session of the bridge's was lost meanwhile: a registration of it would be asked for again. */
export const keepsSession = async (
  { rig, uri }: BridgeContext,
  run: () => Promise<void>,
): Promise<boolean> => {
  let losses = 0
  const following = rig.client.follow(
    `${uri}.kept`,
    {},
    {
      onFollowed: () => undefined,
      onEvent: () => undefined,
      onInterrupted: () => (losses += 1),
      onResumed: () => undefined,
      onFailure: () => (losses += 1),
    },
  )
  await run()
  // A loss would have shown by then.
  await roundTrip(rig)
  following.end()
  return losses === 0
}
