// Large documents at a gateway: compiled in a thread, one change after the other.

import { afterEach, describe, expect, it } from '@jest/globals'
import { BoundedCompiler } from '../../../compiler/bounded-compiler.ts'
import { fileBeside } from '../../../compiler/compile-thread.ts'
import {
  compileDocument,
  type CompileResult,
  validateInProcess,
  validateWith,
  refuseDocument,
} from '../../../dataplane/store/change/validate-document.ts'
import { Snapshot } from '../../../dataplane/store/snapshot/snapshot.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { manyOperations, manyRoutes } from '../../compiler/costly-documents.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import { MemoryFiles } from './memory-files.ts'
import { makeDocument, makeRig, REALM, specPut, syncCall } from './rig.ts'

const compilers: BoundedCompiler<CompileResult>[] = []
afterEach(async () => {
  await Promise.all(compilers.splice(0).map((compiler) => compiler.close()))
})

/** Too little memory for 20,000 routes. */
const aValidate = (maxRoutes = 20_000) => {
  const compiler = new BoundedCompiler({
    work: compileDocument,
    refuse: refuseDocument,
    entry: fileBeside(
      new URL('../../../dataplane/start/control.ts', import.meta.url).href,
      'compile-entry',
    ),
    limits: { maxRoutes, memoryMb: 18, timeMs: 600_000 },
    timers: createManualClock(),
  })
  compilers.push(compiler)
  return validateWith(compiler)
}

const large = (id: string) => ({ ...manyOperations(id, 70), realm_uri: REALM })
const costly = (id: string) => ({ ...manyRoutes(id, 20_000), realm_uri: REALM })

describe('loaded by hand', () => {
  it('one after the other, each with its result', async () => {
    const rig = makeRig({ validate: aValidate() })
    await rig.store.putRealm({ uri: REALM })
    const items = await rig.load(large('a'), costly('b'), makeDocument('c'), costly('b'))
    expect(
      items.map(({ id, result, errors }) => [id, result, errors.map(({ code }) => code)]),
    ).toEqual([
      ['a', 'loaded', []],
      ['b', 'rejected', ['too_expensive']],
      ['c', 'loaded', []],
      ['b', 'rejected', ['too_expensive']],
    ])
    expect(rig.served()).toEqual(['a', 'c'])
  })

  it('with the limit of routes that is set', async () => {
    const rig = makeRig({ validate: aValidate(2) })
    await rig.store.putRealm({ uri: REALM })
    const [item] = await rig.load(makeDocument('a', { paths: ['/[a]/[b]'] }))
    expect(item?.errors).toMatchObject([{ code: 'invalid_value', path: '/versions/v1/paths' }])
  })
})

it('a sync call keeps the last good version of what is too expensive', async () => {
  const rig = makeRig({ validate: aValidate(), manager: 'op' })
  const realm = { uri: REALM, digest: 'r', realm: { uri: REALM } }
  const put = (...specs: ReturnType<typeof specPut>[]) =>
    rig.store.sync(
      syncCall(rig.store, {
        realms: { put: [() => realm], delete: [] },
        specs: { put: specs, delete: [] },
      }),
    )
  await put(specPut(large('a'), 1))
  const outcome = await put(specPut(costly('a'), 1), specPut(makeDocument('b'), 2))
  expect(outcome).toMatchObject({
    items: [
      {},
      { id: 'a', result: 'rejected', errors: [{ code: 'too_expensive' }] },
      { id: 'b', result: 'loaded' },
    ],
  })
  expect(rig.served()).toEqual(['a', 'b'])
})

it('what a snapshot holds comes back at once, whatever it takes', async () => {
  const files = new MemoryFiles()
  const snapshot = () => new Snapshot({ files, log: createSilentLog(), now: () => 1 })
  const before = makeRig({ snapshot: snapshot() })
  await before.store.putRealm({ uri: REALM })
  await before.load(costly('a'))
  await before.store.close()
  const after = makeRig({
    snapshot: snapshot(),
    validate: aValidate(),
    validateRestored: validateInProcess(),
  })
  await after.store.restore()
  expect(after.served()).toEqual(['a'])
})
