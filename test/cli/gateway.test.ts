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

let gateway: GatewayProcess
let directory: TempDir

beforeAll(async () => {
  directory = await makeTempDir()
  gateway = await startGateway()
  const realm = { uri: 'com.example' }
  await request(`${gateway.management}/realms`, { method: 'POST', json: realm })
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
    ['no change', (text) => text, 0, ['0 added, 0 removed, 0 changed']],
    ['another body alone', (text) => text.replace('"orders"}', '"list"}'), 0, ['0 changed']],
    [
      'a new path',
      (text) =>
        text.replace(
          '"/orders":',
          '"/items":{"get":{"action":{"type":"static","body":1}}},"/orders":',
        ),
      1,
      ['+ GET _/v1/items', '1 added'],
    ],
    [
      'a path that goes',
      (text) => text.replace('"/orders"', '"/list"'),
      1,
      ['- GET _/v1/orders', '+ GET _/v1/list'],
    ],
    [
      'security that is loosened',
      (text) => text.replace('"security":{"type":"basic"},', ''),
      3,
      ['~ GET _/v1/admin  security basic → none  LOOSENED', 'security is loosened for 1'],
    ],
    ['a document that is wrong', (text) => text.replace('"static"', '"statik"'), 2, ['left out: ']],
  ])('finds %s', async (_, edit, code, wanted) => {
    const run = await svc(['diff', '--gateway', gateway.management, await file(edit)])
    expect({ ...run, code: run.code }).toMatchObject({ code })
    for (const words of wanted) expect(run.stdout + run.stderr).toContain(words)
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
  expect(known.stdout).toMatch(new RegExp(`^id: ${id}\n(?:.*\n)*status: 401\n`))
  expect(known.stdout).toMatch(
    /^code: svc\.error\.unauthorized\n(?:.*\n)*document:\n {2}action: static\n/m,
  )
  expect(await svc(['why', 'no-such-id', gateway.management])).toMatchObject({
    code: 1,
    stdout: '',
  })
})
