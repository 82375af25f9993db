// Tests `svc diff OLD NEW`: two directories with documents, Realms and Secrets, as people and pipelines read it.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { makeTempDir, type TempDir } from '../../support/temp-dir.ts'
import { svc, type SvcRun } from '../run-svc.ts'

type Members = Readonly<Record<string, unknown>>

let directory: TempDir

beforeAll(async () => {
  directory = await makeTempDir()
})

afterAll(async () => {
  await directory[Symbol.asyncDispose]()
})

let runs = 0

/** Each in a directory of its own, a line an object. */
const diff = async (
  before: readonly Members[],
  after: readonly Members[],
  ...flags: readonly string[]
): Promise<SvcRun> => {
  runs += 1
  const paths = await Promise.all(
    [before, after].map(async (objects, at) => {
      const path = join(directory.path, `${runs}`, at === 0 ? 'old' : 'new')
      await mkdir(path, { recursive: true })
      const text = objects.map((each) => JSON.stringify(each)).join('\n---\n')
      await writeFile(join(path, 'all.yaml'), text)
      return path
    }),
  )
  return await svc(['diff', ...paths, ...flags])
}

const HASH = `$scrypt$ln=14,r=8,p=1$${'A'.repeat(22)}$${'B'.repeat(43)}`
const OTHER_HASH = HASH.replaceAll('B', 'C')

const user = (username: string, more: Members = {}): Members => ({
  username,
  passwordHash: HASH,
  groups: ['staff'],
  ...more,
})

const realm = (spec: Members): Members => ({
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'Realm',
  metadata: { name: 'acme', namespace: 'shop' },
  spec: { uri: 'com.acme', ...spec },
})

const secret = (value: string): Members => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'keys', namespace: 'shop' },
  stringData: { 'callback-secret': value, other: 'x' },
})

const callback = (key: string): Members => ({
  callbackSecret: { secretRef: { name: 'keys', key } },
})

const issuer = (name: string, more: Members = {}): Members => ({
  issuer: name,
  jwksUri: `${name}/keys`,
  audience: 'orders',
  algorithms: ['RS256'],
  ...more,
})

describe('realms', () => {
  it.each<[string, readonly Members[], readonly Members[], number, readonly string[]]>([
    ['nothing', [realm({ users: [user('a')] })], [realm({ users: [user('a')] })], 0, []],
    [
      'users in another order',
      [realm({ users: [user('a'), user('b')] })],
      [realm({ users: [user('b'), user('a', { groups: ['staff'] })] })],
      0,
      [],
    ],
    [
      'a new user before others',
      [realm({ users: [user('a')] })],
      [realm({ users: [user('b'), user('a')] })],
      3,
      ['loosened  ~ realm com.acme  users.b unset → {"username":"b","groups":["staff"]}'],
    ],
    [
      'a user that goes',
      [realm({ users: [user('a'), user('b')] })],
      [realm({ users: [user('a')] })],
      4,
      ['breaking  ~ realm com.acme  users.b {"username":"b","groups":["staff"]} → unset'],
    ],
    [
      'another password',
      [realm({ users: [user('a')] })],
      [realm({ users: [user('a', { passwordHash: OTHER_HASH })] })],
      4,
      ['may break ~ realm com.acme  users.a.password_hash (hidden) has changed'],
    ],
    [
      'other groups of a user',
      [realm({ users: [user('a')] })],
      [realm({ users: [user('a', { groups: ['admin'] })] })],
      3,
      ['loosened, breaking ~ realm com.acme  users.a.groups ["staff"] → ["admin"]'],
    ],
    [
      'a new key',
      [realm({ users: [user('a')] })],
      [realm({ users: [user('a')], apiKeys: [{ username: 'a', keySha256: 'a'.repeat(64) }] })],
      3,
      ['loosened  ~ realm com.acme  api_keys unset → {"a":{"username":"a"}}'],
    ],
    [
      'another key',
      [realm({ apiKeys: [{ username: 'a', keySha256: 'a'.repeat(64) }] })],
      [realm({ apiKeys: [{ username: 'a', keySha256: 'b'.repeat(64) }] })],
      4,
      ['may break ~ realm com.acme  api_keys.a.key_sha256 (hidden) has changed'],
    ],
    [
      'a secret that stands elsewhere',
      [realm(callback('callback-secret')), secret('s3cr3t')],
      [realm(callback('other')), secret('s3cr3t')],
      4,
      ['may break ~ realm com.acme  callback_secret (hidden) has changed'],
    ],
    [
      'another value in a Secret',
      [realm(callback('callback-secret')), secret('s3cr3t-1')],
      [realm(callback('callback-secret')), secret('s3cr3t-2')],
      4,
      ['may break ~ Secret shop/keys  callback-secret (hidden) has changed'],
    ],
    [
      'another issuer',
      [realm({ trustedIssuers: [issuer('https://a.test')] })],
      [realm({ trustedIssuers: [issuer('https://a.test', { audience: 'items' })] })],
      3,
      [
        'loosened, may break ~ realm com.acme  trusted_issuers.https://a.test.audience orders → items',
      ],
    ],
    [
      'pages that may open WebSocket connections',
      [realm({ allowedOrigins: ['https://a.test'] })],
      [realm({})],
      3,
      ['loosened  ~ realm com.acme  allowed_origins ["https://a.test"] → unset'],
    ],
    [
      'namespaces that may use it',
      [realm({ allowedNamespaces: { from: 'Same' } })],
      [realm({ allowedNamespaces: { from: 'All' } })],
      3,
      ['loosened, may break ~ realm com.acme  allowedNamespaces.from Same → All'],
    ],
    [
      'namespaces as an API server writes them where they are left out',
      [realm({})],
      [realm({ allowedNamespaces: { from: 'Same' } })],
      0,
      [],
    ],
    [
      'a shorter call',
      [realm({ callTimeout: 2000 })],
      [realm({ callTimeout: 1000 })],
      4,
      ['may break ~ realm com.acme  call_timeout 2000 → 1000'],
    ],
    ['a realm that goes', [realm({})], [], 4, ['breaking  - realm com.acme']],
    ['a new realm', [], [realm({})], 1, ['changed   + realm com.acme']],
  ])('%s', async (_, ...[before, after, code, wanted]) => {
    const run = await diff(before, after)
    expect({ code: run.code, lines: run.stdout.split('\n').slice(0, -1) }).toEqual({
      code,
      lines: wanted,
    })
    expect(`${run.stdout}${run.stderr}`).not.toMatch(/s3cr3t|scrypt|a{64}|b{64}/)
  })
})

const document = (version: Members): Members => ({
  id: 'com.example.orders',
  host: '_',
  realm_uri: 'com.acme',
  versions: {
    v1: {
      base_path: '/v1',
      wamp_websocket: false,
      paths: { '/orders': { get: { action: { type: 'static', body: 'a' } } } },
      ...version,
    },
  },
})

const OPEN = document({})
const GUARDED = document({ defaults: { security: { type: 'basic' } } })
const SHORTER = document({ defaults: { timeout: 1 } })

describe('the result', () => {
  it.each<[string, Members, Members, number, string]>([
    ['no difference', OPEN, OPEN, 0, 'no difference\n'],
    ['what only changes', OPEN, document({ is_deprecated: true }), 1, '2 differences: 2 changed\n'],
    ['what loosens security', GUARDED, OPEN, 3, '1 difference: 1 loosened\n'],
    ['what breaks callers', OPEN, GUARDED, 4, '1 difference: 1 breaking\n'],
    ['what may break them', OPEN, SHORTER, 4, '1 difference: 1 may break\n'],
    [
      'both, where security comes first',
      document({ defaults: { security: { type: 'basic' }, timeout: 9 } }),
      SHORTER,
      3,
      '2 differences: 1 loosened, 1 may break\n',
    ],
  ])('has an exit code for %s', async (_, ...[before, after, code, stderr]) => {
    expect(await diff([before], [after])).toMatchObject({ code, stderr })
  })

  it('is data for programs, with nothing else on stdout', async () => {
    const { stdout } = await diff([GUARDED], [OPEN], '-o', 'json')
    expect(JSON.parse(stdout)).toEqual({
      changes: [
        {
          type: 'changed',
          kind: 'route',
          name: 'GET _/v1/orders',
          at: expect.stringMatching(/new\/all\.yaml:1:\d+$/),
          effects: ['loosened'],
          differences: [
            {
              what: 'security',
              before: { type: 'basic' },
              after: { type: 'none' },
              effects: ['loosened'],
            },
          ],
        },
      ],
    })
  })

  it('is annotations for GitHub, at the place in the new files', async () => {
    const { stdout } = await diff([GUARDED], [SHORTER], '-o', 'github')
    expect(stdout.replaceAll(/file=[^,]*\/new\/all/g, 'file=all')).toMatch(
      /^::error file=all\.yaml,line=1,col=\d+,title=loosened::~ GET _\/v1\/orders {2}security basic → none\n::warning file=all\.yaml,line=1,col=\d+,title=may break::~ GET _\/v1\/orders {2}limits\.timeout unset → 1\n$/,
    )
  })

  it('is none where a document of either side is wrong', async () => {
    const wrong = { ...OPEN, host: 1 }
    for (const run of [await diff([wrong], [OPEN]), await diff([OPEN], [wrong])])
      expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining('left out: ') })
  })

  it('is said of the rest where a document is left out', async () => {
    const wrong = { ...OPEN, host: 1 }
    const { stderr } = await diff([wrong], [wrong])
    expect(stderr.split('\n').at(-2)).toBe('no difference in the rest')
  })

  it('asks which two are compared where there are more', async () => {
    expect(await svc(['diff', 'a', 'b', 'c'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name two, OLD and NEW'),
    })
  })
})
