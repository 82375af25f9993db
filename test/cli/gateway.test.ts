// Tests the commands of `svc` that ask a gateway, against a real one.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { svc } from './run-svc.ts'

const DOCUMENT = {
  id: 'com.example.orders',
  host: '_',
  realm_uri: 'com.example',
  versions: {
    v1: {
      base_path: '/v1',
      paths: {
        '/orders': { get: { action: { type: 'static', body: 'orders' } } },
        '/admin': { security: { type: 'basic' }, get: { action: { type: 'static', body: 1 } } },
      },
    },
  },
}

const HASH = `$scrypt$ln=14,r=8,p=1$${'A'.repeat(22)}$${'B'.repeat(43)}`

const REALM = {
  uri: 'com.example',
  users: [{ username: 'ann', password_hash: HASH, groups: ['staff'] }],
  router: { url: 'ws://user:pass@127.0.0.1:1/ws?token=abc' },
}

let gateway: GatewayProcess
let directory: TempDir

beforeAll(async () => {
  directory = await makeTempDir()
  gateway = await startGateway()
  await request(`${gateway.management}/realms`, { method: 'POST', json: REALM })
  await request(`${gateway.management}/api_specs`, { method: 'POST', json: DOCUMENT })
})

afterAll(async () => {
  await gateway.stop()
  await directory[Symbol.asyncDispose]()
})

const file = async (edit: (text: string) => string = (text) => text): Promise<string> => {
  const path = join(directory.path, 'orders.json')
  await writeFile(path, edit(JSON.stringify(DOCUMENT)))
  return path
}

describe('svc diff', () => {
  it.each<[string, (text: string) => string, number, readonly string[]]>([
    ['no difference', (text) => text, 0, ['no difference']],
    [
      'another body alone',
      (text) => text.replace('"orders"}', '"list"}'),
      4,
      ['may break ~ GET _/v1/orders  action.body orders → list', '1 difference: 1 may break'],
    ],
    [
      'a new path',
      (text) =>
        text.replace(
          '"/orders":',
          '"/items":{"get":{"action":{"type":"static","body":1}}},"/orders":',
        ),
      1,
      ['changed   + GET _/v1/items', '1 difference: 1 changed'],
    ],
    [
      'a path that goes',
      (text) => text.replace('"/orders"', '"/list"'),
      4,
      ['breaking  - GET _/v1/orders', 'changed   + GET _/v1/list'],
    ],
    [
      'security that is loosened',
      (text) => text.replace('"security":{"type":"basic"},', ''),
      3,
      ['loosened  ~ GET _/v1/admin  security basic → none', '1 difference: 1 loosened'],
    ],
    ['a document that is wrong', (text) => text.replace('"static"', '"statik"'), 2, ['left out: ']],
  ])('finds %s', async (_, edit, code, wanted) => {
    const run = await svc(['diff', '--gateway', gateway.management, await file(edit)])
    expect({ ...run, code: run.code }).toMatchObject({ code })
    for (const words of wanted) expect(run.stdout + run.stderr).toContain(words)
  })

  it.each<[string, object, number, string]>([
    ['the same', {}, 0, ''],
    [
      'with another user',
      { users: [{ username: 'ann', passwordHash: HASH, groups: ['staff'] }, { username: 'bob' }] },
      3,
      'loosened  ~ realm com.example  users.bob unset → {"username":"bob"}\n',
    ],
    [
      'without a router, which its documents that stay are reached by',
      { router: undefined },
      4,
      'breaking  ~ realm com.example  router {"url":"ws://127.0.0.1:1/ws"} → unset\nbreaking  - GET _/v1/ws  action WebSocket → router of the realm, security none\n',
    ],
  ])('compares a Realm: %s', async (_, spec, code, stdout) => {
    const path = join(directory.path, 'realm.json')
    const users = [{ username: 'ann', passwordHash: HASH, groups: ['staff'] }]
    const { uri, router } = REALM
    const resource = {
      apiVersion: 'gateway.svc.dev/v1alpha1',
      kind: 'Realm',
      metadata: { name: 'example' },
      spec: { uri, router, users, ...spec },
    }
    await writeFile(path, JSON.stringify(resource))
    const run = await svc(['diff', '--gateway', gateway.management, path])
    expect(run).toMatchObject({ code, stdout })
    expect(run.stderr).toContain('note: a gateway does not show hashes and secrets of realms')
    expect(`${run.stdout}${run.stderr}`).not.toMatch(/scrypt|pass@|abc/)
  })

  it('lists with --all what is not among the files', async () => {
    const path = join(directory.path, 'other.json')
    await writeFile(path, JSON.stringify({ ...DOCUMENT, id: 'b', host: 'b.test' }))
    const run = await svc(['diff', '--all', '--gateway', gateway.management, path])
    expect(run).toMatchObject({ code: 3 })
    expect(run.stdout).toContain('loosened  + GET b.test/v1/ws  ')
    expect(run.stdout).toContain('breaking  - GET _/v1/orders  action static, security none\n')
    expect(run.stdout).toContain('changed   + host b.test\n')
  })

  it('says what is wrong with its command line, and which gateway does not answer', async () => {
    expect(await svc(['diff'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('name the files'),
    })
    const away = await svc(['diff', '--gateway', 'http://127.0.0.1:1', await file()])
    expect(away).toMatchObject({ code: 2, stderr: expect.stringContaining('http://127.0.0.1:1') })
  })
})

it('svc routes and svc explain say of a gateway what they say of its file', async () => {
  const path = await file()
  for (const source of [path, gateway.management]) {
    const routes = await svc(['routes', source, '--match', '/v1/admin'])
    expect(routes).toMatchObject({ code: 0, stderr: '1 route\n' })
    expect(routes.stdout).toMatch(/GET +_ +\/v1\/admin +v1 +static +basic/)
    const explained = await svc([
      'explain',
      'GET',
      'http://a.test/v1/nothing',
      source,
      '-H',
      'accept: a/b',
    ])
    expect(explained.code).toBe(1)
    expect(explained.stdout).toContain('404')
  }
})

it('svc why reports a failed request afterwards, and that nothing is kept of an unknown one', async () => {
  const { headers, status } = await request(`${gateway.public}/v1/admin`)
  expect(status).toBe(401)
  const id = String(headers['x-request-id'])
  const known = await svc(['why', id, gateway.management])
  expect(known.code).toBe(0)
  expect(known.stdout).toMatch(
    /^request {4}GET \/v1\/admin over http at \S+ was answered with 401 \(svc\.error\.unauthorized\) after \S+ ms\ndecided {4}.*: static of com\.example\.orders, version v1, .*\nwhy {8}.+\nwhat to do .+\n$/,
  )
  expect(await svc(['why', 'no-such-id', gateway.management])).toMatchObject({
    code: 1,
    stdout: '',
  })
})
