import { describe, expect, it } from '@jest/globals'
import { fullRecord, infoRecord } from '../../../dataplane/store/read-back.ts'
import type { SyncItem } from '../../../language/wire/wire.ts'
import { makeDocument, makeRig, REALM, type Rig, stateOf } from './rig.ts'
import { expand } from '../../../dataplane/store/packed/compact.ts'

const withRealm = async (): Promise<Rig> => {
  const rig = makeRig()
  await rig.store.putRealm({ uri: REALM })
  return rig
}

const outcomes = (items: readonly SyncItem[]): readonly string[] =>
  items.map(({ id, result, errors }) => [id, result, ...errors.map(({ code }) => code)].join(' '))

describe('loading by hand', () => {
  it('serves, holds and reads back', async () => {
    const { load, store, changes, clock } = await withRealm()
    const document = { ...makeDocument('a'), name: 'A', meta: { team: 'core' } }
    expect(outcomes(await load(document))).toEqual(['a loaded'])
    const held = store.document('a')
    expect(held && fullRecord(held)).toEqual({ ...document, ts: clock.now() })
    expect(held && infoRecord(held)).toEqual({
      id: 'a',
      host: 'acme.test',
      realm_uri: REALM,
      name: 'A',
      meta: { team: 'core' },
      ts: clock.now(),
    })
    expect(changes.at(-1)?.put.map(({ id, rank }) => [id, rank])).toEqual([['a', 1]])
  })

  it('gives the info record what the document has, and no more', async () => {
    const { load, store, clock } = await withRealm()
    await load(makeDocument('a'))
    const held = store.document('a')
    expect(held && infoRecord(held)).toEqual({
      id: 'a',
      host: 'acme.test',
      realm_uri: REALM,
      ts: clock.now(),
    })
  })

  it('reads a list of versions back as a map', async () => {
    const { load, store } = await withRealm()
    const { versions, ...rest } = makeDocument('a')
    const { v1 } = versions as { v1: object }
    await load({
      ...rest,
      versions: [
        { name: '__proto__', ...v1 },
        { ...v1, base_path: '/[v2]' },
      ],
    })
    const held = store.document('a')
    const text = JSON.stringify(held && fullRecord(held))
    expect(text).toMatch(/"versions":\{"__proto__":\{.*\},"v2":\{/)
  })

  it.each([
    ['no realm', makeDocument('a', { realm: 'com.nobody' }), ['a rejected no_such_realm']],
    ['no map', 42, [' rejected invalid_datatype']],
    [
      'an id with a line break',
      makeDocument('a\nb', { paths: ['/x'] }),
      ['a\nb rejected invalid_value'],
    ],
    [
      'the id __proto__',
      makeDocument('__proto__', { paths: ['/x'] }),
      ['__proto__ rejected invalid_value'],
    ],
    ['an id with a leading _', makeDocument('_a'), ['_a rejected invalid_value']],
    ['an empty id', makeDocument('', { paths: ['/x'] }), [' rejected invalid_value']],
    [
      'a long id',
      makeDocument('i'.repeat(600), { paths: ['/x'] }),
      [`${'i'.repeat(512)} rejected invalid_value`],
    ],
  ])('refuses %s', async (_name, document, expected) => {
    const { load, served } = await withRealm()
    expect(outcomes(await load(document))).toEqual(expected)
    expect(served()).toEqual([])
  })

  it('says which realm there is not', async () => {
    const { load } = await withRealm()
    const [item] = await load(makeDocument('a', { realm: 'com.nobody' }))
    expect(item?.errors[0]?.message).toBe("There is no realm named 'com.nobody'")
  })

  it.each(['toString', 'constructor', 'hasOwnProperty'])(
    'takes the id %s as any other',
    async (id) => {
      const { load, store } = await withRealm()
      expect(store.document(id)).toBeUndefined()
      await load(makeDocument(id, { paths: ['/x'] }))
      expect(store.document(id)?.id).toBe(id)
      expect(Object.keys(stateOf(store).specs)).toEqual([id])
    },
  )

  it('refuses a rejected replacement and keeps what was active', async () => {
    const { load, store, changes } = await withRealm()
    await load(makeDocument('a', { body: 'good' }))
    const count = changes.length
    await load(makeDocument('a', { body: 'broken {{' }))
    expect(changes).toHaveLength(count)
    const source = store.document('a')?.source
    expect(source && expand(source).toString()).toContain('good')
  })

  it('does several at once, each with its result, and one table build', async () => {
    const { load, changes } = await withRealm()
    const count = changes.length
    const items = await load(
      makeDocument('a'),
      { id: 'b' },
      makeDocument('c'),
      7,
      makeDocument('c'),
    )
    expect(outcomes(items)).toEqual([
      'a loaded',
      'b rejected missing_required_value missing_required_value missing_required_value',
      'c loaded',
      ' rejected invalid_datatype',
      'c loaded',
    ])
    expect(changes).toHaveLength(count + 1)
    expect(changes.at(-1)?.put.map(({ id }) => id)).toEqual(['a', 'c'])
  })
})

describe('conflicts among documents loaded by hand', () => {
  const same = { paths: ['/same'] }

  it('refuses the later one and names the winner, in load order even within one millisecond', async () => {
    const { load, served } = await withRealm()
    const items = await load(makeDocument('z', same), makeDocument('a', same))
    expect(outcomes(items)).toEqual(['z loaded', 'a rejected conflict'])
    expect(items[1]?.errors[0]?.message).toContain("'z'")
    expect(served()).toEqual(['z'])
  })

  it('keeps the age of an id that is replaced', async () => {
    const { load } = await withRealm()
    await load(makeDocument('old'), makeDocument('young', same))
    // The older one may take the route: it came first.
    expect(outcomes(await load(makeDocument('old', same)))).toEqual(['old loaded'])
    expect(outcomes(await load(makeDocument('young', same)))).toEqual(['young rejected conflict'])
  })

  it('warns of what a document loaded later by an older id has taken', async () => {
    const { load, store } = await withRealm()
    await load(makeDocument('old'), makeDocument('young', same), makeDocument('old', same))
    expect(stateOf(store).specs['young']?.warnings.map(({ code }) => code)).toEqual(['Shadowed'])
  })

  it.each([
    ['of one realm', 'com.first', 'ws://r.test', ['b loaded']],
    ['of another realm', 'com.second', 'ws://r.test', ['b rejected conflict']],
    ['of another realm over RawSocket', 'com.second', 'rs://r.test:1', ['b loaded']],
  ])('compares /ws of documents %s', async (_name, second, url, expected) => {
    const { load, store } = makeRig()
    for (const uri of ['com.first', 'com.second']) {
      const put = await store.putRealm({ uri, router: { url } })
      expect(put.item.errors).toEqual([])
    }
    const a = { ...makeDocument('a'), realm_uri: 'com.first' }
    expect(outcomes(await load(a))).toEqual(['a loaded'])
    const items = await load({ ...makeDocument('b'), realm_uri: second })
    expect(outcomes(items)).toEqual(expected)
    // It is the base_path alone that is at fault.
    for (const { path, message } of items.flatMap(({ errors }) => errors)) {
      expect(path).toBe('/versions/v1/base_path')
      expect(message).toContain("'a', of another realm")
    }
  })

  it('leaves no claim behind by what was refused, deleted or moved', async () => {
    const { load, store } = await withRealm()
    await load(makeDocument('a', same), makeDocument('b', same))
    await store.delete('a')
    expect(outcomes(await load(makeDocument('c', same)))).toEqual(['c loaded'])
    await load(makeDocument('c', { paths: ['/moved'] }))
    expect(outcomes(await load(makeDocument('d', same)))).toEqual(['d loaded'])
  })

  it('keeps the claims of the version that a refused replacement would have changed', async () => {
    const { load } = await withRealm()
    await load(makeDocument('a', same), makeDocument('b', { paths: ['/b'] }))
    await load(makeDocument('b', { paths: ['/b', '/same'] }))
    expect(outcomes(await load(makeDocument('c', { paths: ['/b'] })))).toEqual([
      'c rejected conflict',
    ])
  })
})

describe('deleting by hand', () => {
  it('takes the document out of service', async () => {
    const { load, store, served } = await withRealm()
    await load(makeDocument('a'), makeDocument('b'))
    await store.delete('a')
    expect([served(), store.documents().map(({ id }) => id)]).toEqual([['b'], ['b']])
  })

  it('of an unknown id changes nothing', async () => {
    const { store, changes } = await withRealm()
    const { etag } = store.state()
    expect((await store.delete('nobody')).item.result).toBe('deleted')
    expect([changes.length, store.state().etag]).toEqual([1, etag])
  })
})

describe('realms by hand', () => {
  it('are put, replaced and deleted; documents stay', async () => {
    const { load, store, changes } = await withRealm()
    await load(makeDocument('a'))
    await store.putRealm({ uri: REALM, description: 'new' })
    expect(store.realm(REALM)?.record.description).toBe('new')
    await store.deleteRealm(REALM)
    expect([store.realms(), store.document('a')?.id]).toEqual([[], 'a'])
    expect(changes.at(-1)?.realms).toEqual({ put: [], delete: [REALM] })
    expect((await store.deleteRealm(REALM)).item.result).toBe('deleted')
  })

  it.each([[42], [null], [{}], [{ uri: 7 }], [{ uri: REALM, users: 'all' }]])(
    'refuse %j',
    async (record) => {
      const { store, changes } = makeRig()
      const { item } = await store.putRealm(record)
      expect([item.result, changes.length]).toEqual(['rejected', 0])
      expect(item.errors.length).toBeGreaterThan(0)
    },
  )
})

describe('a change that fails', () => {
  it('leaves everything as it was, claims too', async () => {
    const { load, store, failNext } = await withRealm()
    await load(makeDocument('a'))
    const { etag } = store.state()
    failNext()
    await expect(load(makeDocument('a', { paths: ['/b'] }), makeDocument('c'))).rejects.toThrow(
      'gone',
    )
    expect([store.state().etag, store.document('c')]).toEqual([etag, undefined])
    expect(outcomes(await load(makeDocument('d', { paths: ['/a'] })))).toEqual([
      'd rejected conflict',
    ])
    expect(outcomes(await load(makeDocument('e', { paths: ['/c'] })))).toEqual(['e loaded'])
  })

  it('also when a document of the call cannot be parsed', async () => {
    const { store, served } = await withRealm()
    const broken = () => {
      throw new Error('not JSON')
    }
    await expect(store.load([() => makeDocument('a'), broken])).rejects.toThrow('not JSON')
    expect([served(), store.documents()]).toEqual([[], []])
  })

  it('does not stand in the way of the next one', async () => {
    const { load, failNext, served } = await withRealm()
    failNext()
    const [first, second] = await Promise.allSettled([
      load(makeDocument('a')),
      load(makeDocument('b')),
    ])
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
    expect(served()).toEqual(['b'])
  })
})

describe('a document by hand that requires a group', () => {
  const users = [{ username: 'bob', groups: ['ops'] }]
  const issuer = { issuer: 'https://i.test', jwks_uri: 'https://i.test/keys', audience: 'a' }
  const oauth2 = { type: 'oauth2', flow: 'client_credentials', groups: ['staff'] }

  it.each<[string, object, object, readonly string[]]>([
    ['no user is in', {}, { type: 'basic', groups: ['staff'] }, ['/security/groups']],
    ['a user is in', {}, { type: 'basic', groups: ['staff', 'ops'] }, []],
    ['an issuer may give', { trusted_issuers: [issuer] }, oauth2, []],
  ])(
    'that %s loads, with a warning where no caller can be in it',
    async (_, realm, security, paths) => {
      const { store, load } = makeRig()
      await store.putRealm({ uri: REALM, users, ...realm })
      const [item] = await load({ ...makeDocument('a'), security })
      expect(item).toMatchObject({ result: 'loaded', errors: [] })
      expect(item?.warnings.map(({ path }) => path)).toEqual(paths)
      expect(store.document('a')?.warnings).toEqual(item?.warnings)
    },
  )
})
