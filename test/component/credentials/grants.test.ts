// A gateway of an operator lets a document use the credentials that the operator grants it, and no others: with the next
// sync call, and after a restart from the snapshot.

import { expect, it } from '@jest/globals'
import type { Value } from '../../../language/expression/value.ts'
import { digestOf, restrictedDigest } from '../../../language/wire/digest.ts'
import type { StateView, SyncReply } from '../../../language/wire/wire.ts'
import { type GatewayProcess, startGateway } from '../../support/gateway-process.ts'
import { request } from '../../support/http-request.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { post } from '../gateway-client.ts'
import { forwarding, REALM_URI, startUpstream } from './credentials-rig.ts'

/** By id of the document: what it is granted; undefined: the operator says nothing, as an older one. */
type Grants = Readonly<Record<string, readonly string[] | undefined>>

const sync = async (gateway: GatewayProcess, origin: string, grants: Grants): Promise<unknown> => {
  const state = await request(`${gateway.management}/api_specs?view=state`)
  const { rootDigest, epoch } = state.json() as StateView
  const realm = {
    uri: REALM_URI,
    credentials: { billing: { origins: [origin], bearer: { token: 'granted' } } },
  }
  const put = Object.entries(grants).map(([id, credentials]) => {
    const versions = {
      v1: { base_path: `/${id}`, paths: { '/x': { get: forwarding(origin, 'billing') } } },
    }
    const spec = { id, host: '_', realm_uri: REALM_URI, versions }
    const withheld = credentials?.length === 0 ? ['billing'] : []
    const digest = restrictedDigest(digestOf(spec as Value), { confinedTo: undefined, withheld })
    return {
      id,
      digest,
      since: 1,
      spec,
      ...(credentials && { credentials, critical: ['/credentials'] }),
    }
  })
  const response = await post(gateway, '/api_specs/_sync', {
    managedBy: 'op',
    epoch: Math.max(epoch, 1),
    base: rootDigest,
    realms: { put: [{ uri: REALM_URI, digest: digestOf(realm), realm }] },
    specs: { put },
  })
  return (response.json() as SyncReply).items.map(({ result }) => result)
}

it('is held to what its operator grants', async () => {
  await using dir = await makeTempDir()
  await using upstream = await startUpstream()
  const { origin } = upstream
  const flags = ['--managed', 'op', '--state-dir', dir.path]
  const before = await startGateway({ flags })
  const grants = { may: ['billing'], not: [], silent: undefined }
  expect(await sync(before, origin, grants)).toEqual(['loaded', 'loaded', 'loaded', 'loaded'])
  const statuses = async (gateway: GatewayProcess): Promise<readonly number[]> => {
    const all: number[] = []
    for (const id of Object.keys(grants))
      all.push((await request(`${gateway.public}/${id}/x`)).status)
    return all
  }
  expect(await statuses(before)).toEqual([200, 504, 504])
  await before.stop()
  await using after = await startGateway({ flags })
  expect(await statuses(after)).toEqual([200, 504, 504])
  expect(await sync(after, origin, { may: [], not: ['billing'] })).toEqual([
    'unchanged',
    'loaded',
    'loaded',
  ])
  expect(await statuses(after)).toEqual([504, 200, 504])
  expect(new Set(upstream.seen.map(({ authorization }) => authorization))).toEqual(
    new Set(['Bearer granted']),
  )
}, 60_000)
