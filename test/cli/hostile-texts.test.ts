// Every command of `svc`, against a gateway that says hostile things in each place of its responses, and with hostile
// files: nothing that a terminal obeys gets out, and no line that someone else seems to have written.

import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { COMMANDS } from '../../cli/commands.ts'
import { parseYaml } from '../../operator/manifests/parse-yaml.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { request } from '../support/http-request.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'
import { svc, type SvcRun } from './run-svc.ts'

const ROOT = join(import.meta.dirname, '../..')

/** Clears the screen, sets its title (C1), goes back in the line, turns direction, hides, and begins a line. */
const HOSTILE =
  '\u001b[2J\u009d0;x\u0007\r\u202e\u2066\u200b\u2028\u{e0041}\u0085\nFORGED: all is well'

const UNPRINTABLE = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u

const expectHarmless = ({ stdout, stderr }: Pick<SvcRun, 'stdout' | 'stderr'>): void => {
  for (const text of [stdout, stderr]) {
    expect(UNPRINTABLE.exec(text)?.[0]).toBeUndefined()
    expect(text).not.toMatch(/^FORGED/m)
  }
}

const DOCUMENT = {
  id: 'com.example.orders',
  host: '_',
  realm_uri: 'com.example',
  versions: {
    v1: {
      base_path: '/v1',
      paths: { '/orders': { get: { action: { type: 'static', body: 'orders' } } } },
    },
  },
}

let gateway: GatewayProcess
let directory: TempDir
let proxy: Server
let url: string
let requestId: string
/** What the proxy does with the response of the gateway. */
let edit: (text: string) => { readonly status?: number; readonly text: string }

const asItIs = (text: string) => ({ text })

beforeAll(async () => {
  directory = await makeTempDir()
  gateway = await startGateway()
  await request(`${gateway.management}/realms`, { method: 'POST', json: { uri: 'com.example' } })
  await request(`${gateway.management}/api_specs`, { method: 'POST', json: DOCUMENT })
  const { headers } = await request(`${gateway.public}/v1/orders`, { method: 'DELETE' })
  requestId = String(headers['x-request-id'])
  proxy = createServer((incoming, response) => {
    void request(`${gateway.management}${incoming.url ?? ''}`).then(({ status: real, text }) => {
      const { status = real, text: edited } = edit(text)
      response.writeHead(status, { 'content-type': 'application/json' }).end(edited)
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const changed = JSON.stringify(DOCUMENT).replace('/v1', '/v2')
  await writeFile(join(directory.path, 'orders.json'), changed)
})

afterAll(async () => {
  proxy.closeAllConnections()
  proxy.close()
  await gateway.stop()
  await directory[Symbol.asyncDispose]()
})

/** Makes the value or key at place `wanted` hostile, in the order of the text. */
const hostileAt = (
  text: string,
  wanted: number,
): { readonly text: string; readonly places: number } => {
  let at = 0
  const next = (word: string): string => (at++ === wanted ? `${word}${HOSTILE}` : word)
  const walk = (value: unknown): unknown => {
    if (typeof value === 'string') return next(value)
    if (Array.isArray(value)) return value.map(walk)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [next(key), walk(each)]))
  }
  return { text: JSON.stringify(walk(JSON.parse(text))), places: at }
}

const asked = {
  import: () => ['import', url],
  why: () => ['why', requestId, url],
  'why -o json': () => ['why', '-o', 'json', requestId, url],
  routes: () => ['routes', url],
  'routes -o json': () => ['routes', '-o', 'json', url],
  explain: () => ['explain', 'GET', 'http://a.test/v1/orders', url],
  'explain -o json': () => ['explain', '-o', 'json', 'GET', 'http://a.test/v1/orders', url],
  diff: () => ['diff', '--gateway', url, join(directory.path, 'orders.json')],
  status: () => ['status', url],
} satisfies Readonly<Record<string, () => readonly string[]>>

describe.each(Object.entries(asked))('svc %s', (_name, argv) => {
  it('prints what a gateway says', async () => {
    edit = asItIs
    const run = await svc(argv())
    expect(run.stdout).toContain('orders')
    expectHarmless(run)
  })

  it('prints nothing that a terminal obeys, wherever in its responses a gateway says it', async () => {
    let places = 1
    for (let wanted = 0; wanted < places; wanted++) {
      let seen = 0
      edit = (text) => {
        const edited = hostileAt(text, wanted - seen)
        seen += edited.places
        return edited
      }
      expectHarmless(await svc(argv()))
      places = Math.min(seen, 300)
    }
    expect(places).toBeGreaterThan(3)
  })

  it.each([200, 302, 400, 401, 403, 404, 409, 500])('nor in a response of %i', async (status) => {
    expect.hasAssertions()
    const error = { code: `x${HOSTILE}`, message: HOSTILE, description: HOSTILE }
    for (const text of [JSON.stringify(error), JSON.stringify(HOSTILE), HOSTILE, '']) {
      edit = () => ({ status, text })
      expectHarmless(await svc(argv()))
    }
  })
})

it('import to stdout and to files writes hostile documents as what they are', async () => {
  edit = (text) => asItIs(text.replaceAll('"orders"', JSON.stringify(`orders${HOSTILE}`)))
  const out = join(directory.path, 'out')
  const run = await svc(['import', url])
  await svc(['import', url, '--dir', out])
  const files = await Promise.all(
    (await readdir(out)).map((name) => readFile(join(out, name), 'utf8')),
  )
  for (const text of [run.stdout, files.join('---\n')]) {
    const parsed = parseYaml(text)
    expect('error' in parsed ? parsed : JSON.stringify(parsed.documents)).toContain(
      JSON.stringify(`orders${HOSTILE}`),
    )
    expect(text).not.toMatch(UNPRINTABLE)
  }
})

describe('hostile files', () => {
  const inJson = JSON.stringify(HOSTILE).slice(1, -1)
  const contents = {
    'is no YAML': `a: [${HOSTILE}`,
    'is no manifest': JSON.stringify({ [HOSTILE]: HOSTILE }),
    'has hostile values': JSON.stringify(DOCUMENT).replace(
      /"(com\.example|static|_|orders)"/g,
      `"$1${inJson}"`,
    ),
    'has hostile keys': JSON.stringify(DOCUMENT).replace(
      /"(get|action|base_path|host)":/g,
      `"$1${inJson}":`,
    ),
    'is a hostile Realm': JSON.stringify({
      apiVersion: 'gateway.svc.dev/v1alpha1',
      kind: 'Realm',
      metadata: { name: HOSTILE, namespace: HOSTILE },
      spec: { uri: HOSTILE, [HOSTILE]: HOSTILE, router: { url: `ws://${HOSTILE}/` } },
    }),
    'is of a hostile kind': JSON.stringify({
      apiVersion: `gateway.svc.dev/${HOSTILE}`,
      kind: HOSTILE,
      metadata: { name: 'a' },
    }),
    'has hostile examples': JSON.stringify(DOCUMENT).replace(
      '"action":',
      `"examples":{"${inJson}":{"given":{"body":"${inJson}"},"expect":{"body":{"${inJson}":"${inJson}"},"headers":{"${inJson}":1}}}},"action":`,
    ),
    'is a hostile OpenAPI description': JSON.stringify({
      openapi: '3.0.0',
      info: { title: HOSTILE },
      servers: [{ url: `http://a/${HOSTILE}` }, { url: HOSTILE }],
      paths: { [`/${HOSTILE}`]: { get: { [HOSTILE]: 1 } }, '/a': { [HOSTILE]: 1, get: {} } },
    }),
    'has a hostile expression': JSON.stringify(DOCUMENT).replace(
      '"orders"',
      `"{{request.${inJson} |> nope${inJson}}}"`,
    ),
  }
  const commands = [
    ['validate'],
    ['validate', '-o', 'json'],
    ['validate', '-o', 'github'],
    ['validate', '-o', 'sarif'],
    ['validate', '-o', 'junit'],
    ['routes'],
    ['routes', '-o', 'json'],
    ['openapi'],
    ['openapi', '-o', 'yaml'],
    ['import-openapi'],
    ['test'],
    ['test', '-o', 'json'],
    ['test', '-o', 'junit'],
    ['explain', 'GET', 'http://a.test/v1/orders'],
    ['diff', '--gateway', 'URL'],
    ['apply', '--kubeconfig', 'FILE'],
    ['status', '--kubeconfig', 'FILE'],
  ]

  it.each(Object.entries(contents))('that %s', async (_title, text) => {
    expect.hasAssertions()
    edit = asItIs
    await using place = await makeTempDir()
    const folder = join(place.path, `folder${HOSTILE}`)
    await mkdir(folder)
    const file = join(folder, 'a.yaml')
    await writeFile(file, text)
    for (const [command = '', ...rest] of commands)
      for (const isColoured of [false, true])
        for (const path of [file, folder, join(folder, 'missing.yaml')]) {
          const argv = rest.map((word) => (word === 'URL' ? url : word === 'FILE' ? path : word))
          const operands = command === 'status' ? [] : [path]
          const { stdout, stderr } = await svc([command, ...argv, ...operands], { isColoured })
          // eslint-disable-next-line no-control-regex -- the colours of our own lines
          const withoutColours = stdout.replaceAll(/\u001b\[(?:0|1;31|33|36)m/g, '')
          expectHarmless({ stdout: isColoured ? withoutColours : stdout, stderr })
        }
  })
})

const ANY_PORTS = ['--public', '--management', '--status'].flatMap((flag) => [flag, '127.0.0.1:0'])

it.each([
  ['cli/main.ts', ['validate', 'FILE']],
  ['cli/main.ts', [HOSTILE]],
  ['cli/main.ts', ['serve', ...ANY_PORTS, 'FOLDER']],
  ['operator/main.ts', ['--once', '--manifests', 'FOLDER', '--data-planes', 'http://127.0.0.1:1']],
  ['operator/main.ts', ['--manifests', HOSTILE]],
  ['operator/main.ts', ['--config', 'FILE']],
  ['dataplane/main.ts', ['--config', 'FILE']],
  ['dataplane/main.ts', ['drain', '--management', HOSTILE]],
])('%s %j writes nothing that a terminal obeys', async (program, argv) => {
  await using place = await makeTempDir()
  const file = join(place.path, 'a.yaml')
  const text = JSON.stringify({ ...DOCUMENT, realm_uri: HOSTILE, [HOSTILE]: 1 })
  await writeFile(file, text)
  const words = argv.map((word) => (word === 'FILE' ? file : word === 'FOLDER' ? place.path : word))
  const { stdout, stderr } = spawnSync(process.execPath, [join(ROOT, program), ...words], {
    env: programEnvironment({}),
    encoding: 'utf8',
    timeout: 50_000,
  })
  expect(stdout + stderr).not.toBe('')
  expectHarmless({ stdout, stderr })
})

it('every command that reads something is among these', () => {
  const none = ['completion', 'hash-password', 'init', 'key', 'schema', 'version']
  const tried = new Set([
    ...Object.keys(asked).map((name) => name.split(' ')[0]),
    'validate',
    'test',
    // It prints what `test` does of files, and serves.
    'mock',
    'openapi',
    'import-openapi',
    'apply',
    'serve',
    ...none,
  ])
  expect(Object.keys(COMMANDS).filter((name) => !tried.has(name))).toEqual([])
})
