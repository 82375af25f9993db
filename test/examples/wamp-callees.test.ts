// The two callees of docs/wamp/callees.md, run as they stand there (but for the address of the router and the name of
// the realm), are called over HTTP through a gateway: at the embedded router, and at each real one.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { env, execPath } from 'node:process'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { eventually } from '../support/eventually.ts'
import { type GatewayProcess, startGateway } from '../support/gateway-process.ts'
import { type HttpResponse, request } from '../support/http-request.ts'
import { textOf } from '../support/pages.ts'
import { builtDirectory } from '../support/routers/recipe.ts'
import { OPEN_REALM } from '../support/routers/router-config.ts'
import { describeWhenAvailable } from '../support/when-available.ts'
import {
  prepareSuite,
  ROUTER_NAMES,
  type RouterName,
  START_MS,
} from '../support/routers/router-under-test.ts'

const ROOT = join(import.meta.dirname, '../..')
const GUIDE = textOf('docs/wamp/callees.md')

/** What `pip install autobahn` would bring comes with Crossbar. */
const PYTHON = join(builtDirectory('crossbar'), 'bin/python')

const LANGUAGES = {
  Python: { fence: 'python', command: PYTHON, flags: ['-c'] },
  JavaScript: { fence: 'js', command: execPath, flags: ['--input-type=module', '-e'] },
} as const

type Language = keyof typeof LANGUAGES

const snippet = (language: Language): string => {
  const { fence } = LANGUAGES[language]
  const section = GUIDE.slice(GUIDE.indexOf(`## In ${language}`))
  return new RegExp(`\`\`\`${fence}\n(.*?)\`\`\``, 's').exec(section)?.[1] ?? ''
}

const startCallee = (language: Language, url: string): ChildProcess => {
  const { command, flags } = LANGUAGES[language]
  const code = snippet(language)
    .replace('ws://127.0.0.1:18091/', url)
    .replace(/(["'])com\.example\1/, `$1${OPEN_REALM}$1`)
  const given = { ...env, NODE_OPTIONS: '' }
  return spawn(command, [...flags, code], { cwd: ROOT, env: given, stdio: 'ignore' })
}

const stop = async (callee: ChildProcess): Promise<void> => {
  const exited = once(callee, 'exit')
  callee.kill('SIGKILL')
  await exited
}

/** As the guide says that a document calls them. */
const DOCUMENT = {
  id: 'guide',
  host: '_',
  realm_uri: OPEN_REALM,
  status_codes: { 'com.example.error.no_such_article': 404 },
  versions: {
    v1: {
      base_path: '/guide',
      paths: {
        '/prices/:sku': {
          get: {
            action: {
              type: 'wamp_call',
              procedure: 'com.example.prices.get',
              args: ['{{request.bindings.sku}}'],
            },
            response: {
              on_result: { body: '{{action.result.args |> head}}' },
              on_error: { body: '{{action.error.kwargs}}' },
            },
          },
        },
        '/scan': {
          get: {
            action: { type: 'wamp_call', procedure: 'com.example.prices.scan' },
            response: {
              on_result: {
                body: ['{{action.result.args}}', '{{action.result.kwargs}}'],
              },
            },
          },
        },
      },
    },
  },
}

const suites = await Promise.all(ROUTER_NAMES.map((name) => prepareSuite(name)))

/** autobahn-js does not announce `call_canceling`; the guide says what nexus makes of that. */
const showsProgress = (router: RouterName, language: Language): boolean =>
  router !== 'nexus' || language === 'Python'

let gateway: GatewayProcess

beforeAll(async () => {
  gateway = await startGateway()
  for (const { start } of suites) await start()
}, START_MS)

afterAll(async () => {
  await Promise.all([gateway.stop(), ...suites.map(({ stop: end }) => end())])
}, START_MS)

const manage = async (path: string, json: unknown): Promise<void> => {
  const response = await request(`${gateway.management}${path}`, { method: 'POST', json })
  expect(response.status).toBe(204)
}

const get = (path: string, headers = {}): Promise<HttpResponse> =>
  request(`${gateway.public}/guide${path}`, { headers })

/** nexus hands on the members of a map in any order. */
const eventsOf = (text: string): readonly unknown[] =>
  text
    .trim()
    .split('\n\n')
    .map((event) => {
      const [name, data = ''] = event.split('\ndata: ')
      return [name, JSON.parse(data) as unknown]
    })

const itAnswersIn = (language: Language): void => {
  const rows = suites.filter(({ availability }) => availability.available)
  it.each(rows)(
    'answers, fails and shows progress at $name',
    async ({ name, running }) => {
      const url = running().ws
      await manage('/realms', { uri: OPEN_REALM, router: { url } })
      await manage('/api_specs', DOCUMENT)
      const callee = startCallee(language, url)
      try {
        await eventually(
          async () => {
            expect((await get('/scan')).json()).toEqual([[1], {}])
          },
          { withinMs: 30_000 },
        )

        const known = await get('/prices/ZPK1972')
        expect(known.json()).toEqual({ sku: 'ZPK1972', price: 13.99 })
        const unknown = await get('/prices/none')
        expect([unknown.status, unknown.json()]).toEqual([404, { sku: 'none' }])

        const scan = await get('/scan', { accept: 'text/event-stream' })
        const progress = ['event: progress', [[], { done: 1, sku: 'ZPK1972' }]]
        const result = ['event: result', [[1], {}]]
        expect(eventsOf(scan.text)).toEqual([
          ...(showsProgress(name, language) ? [progress] : []),
          result,
        ])
      } finally {
        await stop(callee)
      }
    },
    60_000,
  )
}

describe('the callee in JavaScript', () => {
  itAnswersIn('JavaScript')
})

describeWhenAvailable(
  'the callee in Python',
  existsSync(PYTHON)
    ? { available: true }
    : { available: false, why: 'there is no Python with autobahn: it comes with Crossbar' },
  () => {
    itAnswersIn('Python')
  },
)
