import { describe, expect, it } from '@jest/globals'
import { fullRecord } from '../../../../dataplane/store/read-back.ts'
import { Snapshot } from '../../../../dataplane/store/snapshot/snapshot.ts'
import { fileOf } from '../../../../dataplane/store/snapshot/snapshot-record.ts'
import { validateInProcess } from '../../../../dataplane/store/change/validate-document.ts'
import type { StoreOptions } from '../../../../dataplane/store/store.ts'
import { createSilentLog } from '../../../../telemetry/log.ts'
import { eventually } from '../../../support/eventually.ts'
import { createManualClock } from '../../../support/manual-clock.ts'
import { MemoryFiles } from '../memory-files.ts'
import {
  makeDocument,
  makeRig,
  REALM,
  realmPut,
  type Rig,
  rootOf,
  specPut,
  stateOf,
  syncCall,
} from '../rig.ts'
import { expand } from '../../../../dataplane/store/packed/compact.ts'

interface Started extends Rig {
  readonly complete: boolean
}

const start = async (files: MemoryFiles, options: Partial<StoreOptions> = {}): Promise<Started> => {
  const snapshot = new Snapshot({ files, log: createSilentLog(), now: () => 0 })
  const rig = makeRig({ snapshot, ...options })
  return { ...rig, ...(await rig.store.restore()) }
}

const managed = { manager: 'op' }

/** A gateway of `op` that holds a realm and `a`, complete. */
const completed = async (files: MemoryFiles): Promise<Started> => {
  const rig = await start(files, managed)
  await rig.store.sync(
    syncCall(rig.store, {
      epoch: 4,
      realms: { put: [realmPut(REALM, { authmethods: ['oidcrp', 'cookie'] })], delete: [] },
      specs: {
        put: [
          specPut(makeDocument('a', { body: '{{variables.key}}' }), 5, {
            variables: { key: 's3cret' },
          }),
        ],
        delete: [],
      },
    }),
  )
  await rig.store.sync(syncCall(rig.store, { epoch: 4, complete: rootOf(rig.store) }))
  await rig.store.close()
  return rig
}

describe('a restart', () => {
  it('tells what serves that the manager had completed, an empty set too, and not without', async () => {
    const marks = ({ changes }: Started) => changes.map(({ isComplete = false }) => isComplete)
    const full = new MemoryFiles()
    await completed(full)
    expect(marks(await start(full, managed))).toEqual([false, true])
    const empty = new MemoryFiles()
    const none = await start(empty, managed)
    await none.store.sync(syncCall(none.store, { complete: rootOf(none.store) }))
    await none.store.close()
    expect(marks(await start(empty, managed))).toEqual([true])
    const byHand = new MemoryFiles()
    const before = await start(byHand, { ...managed, allowUnmanaged: true })
    await before.store.putRealm({ uri: REALM })
    await before.store.close()
    expect(marks(await start(byHand, { ...managed, allowUnmanaged: true }))).toEqual([false])
  })

  it('brings back what was loaded by hand, with its age and time', async () => {
    const files = new MemoryFiles()
    const before = await start(files)
    await before.store.putRealm({ uri: REALM, description: 'd' })
    await before.load({ ...makeDocument('b'), unknown: 1 }, makeDocument('a'))
    const after = await start(files)
    expect(after.served()).toEqual(['a', 'b'])
    expect(after.store.documents().map(fullRecord)).toEqual(
      before.store.documents().map(fullRecord),
    )
    expect(after.store.realm(REALM)?.record.description).toBe('d')
    expect(stateOf(after.store).specs).toEqual(stateOf(before.store).specs)
    expect(after.changes).toHaveLength(1)
  })

  it('brings back a realm by hand with what another version took of its provider', async () => {
    const corp = {
      issuer: 'https://idp.test',
      client_id: 'c',
      client_secret: 's',
      redirect_uri: 'https://api.test/v1/oidc/corp/callback',
      auto_provision: true,
    }
    const record = { uri: REALM, info: { oidc_providers: { corp } } }
    const realm = { uri: REALM, digest: '', managedBy: null, record }
    const { name, bytes } = fileOf({ kind: 'realm', realm })
    const { store } = await start(new MemoryFiles([[name, bytes]]))
    expect(store.realm(REALM)?.record).toEqual(record)
  })

  it('keeps load order as the order of age', async () => {
    const files = new MemoryFiles()
    const before = await start(files)
    await before.store.putRealm({ uri: REALM })
    await before.load(makeDocument('z', { paths: ['/same'] }))
    const earlier = createManualClock({ startMs: before.clock.now() - 1_000_000 })
    const after = await start(files, { now: () => earlier.now() })
    const [item] = await after.load(makeDocument('a', { paths: ['/same'] }))
    expect(item?.errors[0]?.message).toContain("'z'")
  })

  it('brings back manager, epoch, digests and variables', async () => {
    const files = new MemoryFiles()
    const before = await completed(files)
    const after = await start(files, managed)
    expect(after.complete).toBe(true)
    expect(stateOf(after.store)).toMatchObject({ epoch: 4, manager: 'op', complete: false })
    expect(rootOf(after.store)).toBe(rootOf(before.store))
    const content = after.changes[0]?.put[0]?.content
    expect(content && expand(content).toString()).toContain('s3cret')
    expect(await after.store.sync(syncCall(after.store, { epoch: 3 }))).toEqual({
      reason: 'stale_epoch',
      epoch: 4,
    })
  })

  it('stays complete over a batch that says nothing of it', async () => {
    const files = new MemoryFiles()
    await completed(files)
    const second = await start(files, managed)
    await second.store.sync(
      syncCall(second.store, {
        epoch: 5,
        specs: { put: [specPut(makeDocument('b'), 6)], delete: [] },
      }),
    )
    await second.store.close()
    const third = await start(files, managed)
    expect([third.complete, stateOf(third.store).epoch, third.served()]).toEqual([
      true,
      5,
      ['a', 'b'],
    ])
  })

  it('keeps a new epoch even where the call was refused', async () => {
    const files = new MemoryFiles()
    const rig = await start(files, managed)
    await rig.store.sync(syncCall(rig.store, { epoch: 9, base: 'old' }))
    const after = await start(files, managed)
    expect(stateOf(after.store).epoch).toBe(9)
  })

  it('is not complete without all its files', async () => {
    const files = new MemoryFiles()
    await completed(files)
    const name = [...files.files.keys()].find((file) => file.startsWith('spec')) ?? ''
    files.files.delete(name)
    const after = await start(files, managed)
    expect([after.complete, after.served()]).toEqual([false, []])
    expect((await start(files, managed)).complete).toBe(false)
  })

  it('keeps documents whose realm has gone or lost its methods', async () => {
    const files = new MemoryFiles()
    const before = await start(files)
    await before.store.putRealm({ uri: REALM, authmethods: ['oidcrp', 'cookie'] })
    const document = { ...makeDocument('a'), defaults: { security: { type: 'oidc' } } }
    const [item] = await before.load(document)
    expect(item?.result).toBe('loaded')
    await before.store.putRealm({ uri: REALM })
    expect((await start(files)).served()).toEqual(['a'])
    await before.store.deleteRealm(REALM)
    expect((await start(files)).served()).toEqual(['a'])
  })

  it('sets aside what a later version of the gateway no longer takes', async () => {
    const files = new MemoryFiles()
    const before = await start(files)
    await before.store.putRealm({ uri: REALM })
    await before.load(makeDocument('a'), makeDocument('b'))
    await before.store.close()
    const problems = [{ code: 'invalid_value', path: '', message: 'no longer' }] as const
    const rig = makeRig()
    const validate = validateInProcess()
    const after = await start(files, {
      validate: (document, environment) => {
        const validated = validate(document, environment)
        return validated.id === 'a' ? { ok: false, id: 'a', problems, warnings: [] } : validated
      },
    })
    expect([after.served(), rig.served()]).toEqual([['b'], []])
    expect([...files.files.keys()].filter((name) => name.startsWith('.damaged-'))).toHaveLength(1)
    // The next start finds everything in order.
    expect((await start(files)).served()).toEqual(['b'])
  })
})

describe('a restart under another owner', () => {
  it.each<[string, Partial<StoreOptions>, readonly string[], string | null | undefined]>([
    ['by hand: they serve on as if loaded by hand', {}, ['a'], null],
    ['another manager: they are not its own', { manager: 'other' }, [], undefined],
    ['another manager that allows hands', { manager: 'other', allowUnmanaged: true }, ['a'], null],
  ])('%s', async (_name, options, served, owner) => {
    const files = new MemoryFiles()
    await completed(files)
    const after = await start(files, options)
    expect([after.served(), after.complete, stateOf(after.store).epoch]).toEqual([served, false, 0])
    expect(stateOf(after.store).specs['a']?.managedBy).toBe(owner)
  })

  it('leaves out what was loaded by hand where hands are not allowed', async () => {
    const files = new MemoryFiles()
    const before = await start(files)
    await before.store.putRealm({ uri: REALM })
    await before.load(makeDocument('a'))
    expect((await start(files, managed)).served()).toEqual([])
  })
})

describe('a full disk', () => {
  it('does not stop a load, is logged, and is tried again', async () => {
    const files = new MemoryFiles()
    const failing: boolean[] = []
    const rig = await start(files, {
      retrySnapshotMs: 5,
      observer: { snapshotFailing: (isFailing) => failing.push(isFailing) },
    })
    files.isFull = true
    await rig.store.putRealm({ uri: REALM })
    const [item] = await rig.load(makeDocument('a'))
    expect([item?.result, failing.at(-1)]).toEqual(['loaded', true])
    files.isFull = false
    await eventually(() => {
      expect(failing.at(-1)).toBe(false)
    })
    await rig.store.close()
    expect((await start(files)).served()).toEqual(['a'])
  })
})

describe('a store without a snapshot', () => {
  it('has nothing to restore', async () => {
    expect(await makeRig().store.restore()).toEqual({ complete: false })
  })
})
