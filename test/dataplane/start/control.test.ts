// The control half on a plane that only records: management, health, readiness, metrics, snapshot.

import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { ProcessStatusRegistry } from '../../../dataplane/start/cluster/process-status.ts'
import { readGatewaySettings, type GatewaySettings } from '../../../dataplane/config.ts'
import { type Control, createControl } from '../../../dataplane/start/control.ts'
import {
  type HealthListener,
  openHealthListener,
} from '../../../dataplane/listen/health-listener.ts'
import { createMeasurements } from '../../../dataplane/metrics.ts'
import type { Plane } from '../../../dataplane/start/plane.ts'
import type { ServingChange } from '../../../dataplane/store/serving.ts'
import { ServiceDirectory } from '../../../dataplane/upstream/endpoints/service-directory.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import type { FamilyState, MetricsState } from '../../../telemetry/metrics-state.ts'
import { eventually } from '../../support/eventually.ts'
import { freePort } from '../../support/free-port.ts'
import { request } from '../../support/http-request.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { answers, apiOf } from '../http/served-gateway.ts'
import { AUTHORITY, SERVER } from '../management/certificates.ts'

const opened: Control[] = []

afterEach(async () => {
  for (const control of opened.splice(0)) await control.close()
})

const settingsOf = (...argv: readonly string[]): GatewaySettings => {
  const parsed = readGatewaySettings(
    ['--management', '127.0.0.1:0', '--health', '127.0.0.1:0', ...argv],
    {},
  )
  if (parsed.kind !== 'settings') throw new Error(JSON.stringify(parsed))
  return parsed.settings
}

interface Started {
  readonly control: Control
  readonly changes: ServingChange[]
  readonly management: string
  readonly health: string
}

interface Options {
  readonly early?: HealthListener
  readonly settings?: GatewaySettings
  readonly isOwnMetricsApart?: boolean
  /** What the plane exports. */
  readonly state?: MetricsState
}

const start = async ({
  settings = settingsOf(),
  isOwnMetricsApart = false,
  state,
  early,
}: Options = {}): Promise<Started> => {
  const changes: ServingChange[] = []
  const { metrics } = createMeasurements()
  const plane: Plane = {
    serving: {
      apply: (change) => {
        changes.push(change)
        return Promise.resolve()
      },
    },
    listen: () => Promise.resolve({}),
    findDecisions: () => Promise.resolve([]),
    findFailures: () => Promise.resolve([]),
    explain: () => Promise.resolve(undefined),
    viewUpstreams: () => Promise.resolve([]),
    endpoints: { directory: new ServiceDirectory(), apply: () => Promise.resolve() },
    exportMetrics: async () => ({
      state: state ?? (isOwnMetricsApart ? [] : await metrics.exportState()),
      requests: [],
    }),
    announce: () => undefined,
    beginDraining: () => undefined,
    releaseClients: () => undefined,
    close: () => Promise.resolve(),
    abort: () => undefined,
  }
  const control = await createControl({
    settings,
    log: createSilentLog(),
    plane,
    processStatus: new ProcessStatusRegistry(),
    metrics,
    isOwnMetricsApart,
    ...(early !== undefined && { health: early }),
  })
  opened.push(control)
  const urls = (await control.listen()).urls()
  return { control, changes, management: urls.management ?? '', health: urls.health ?? '' }
}

const stop = async (control: Control): Promise<void> => {
  opened.splice(opened.indexOf(control), 1)
  await control.close()
}

const document = apiOf({ '/x': { get: answers('x') } })
const post = (
  url: string,
  path: string,
  json: unknown,
  headers: Readonly<Record<string, string>> = {},
) => request(`${url}${path}`, { method: 'POST', json, headers })

const putRealm = (url: string) => post(url, '/realms', { uri: 'com.acme' })

describe('createControl', () => {
  it('loads documents into the plane and reads them back', async () => {
    const { changes, management } = await start()
    expect((await putRealm(management)).status).toBe(204)
    expect((await post(management, '/api_specs', document)).status).toBe(204)
    expect(changes.at(-1)?.put.map(({ id }) => id)).toEqual(['api'])
    expect((await request(`${management}/api_specs/api`)).json()).toMatchObject({ id: 'api' })
  })

  it.each<[readonly string[], readonly string[]]>([
    [[], ['ConnectionAddress']],
    [['--trusted-proxies', '10.0.0.1'], []],
    [['--public-proxy-protocol', '10.0.0.0/8'], []],
  ])('with %j warns of networks in its state: %j', async (argv, expected) => {
    const { management } = await start({ settings: settingsOf(...argv) })
    await putRealm(management)
    const security = { networks: ['10.0.0.0/8'] }
    await post(management, '/api_specs', apiOf({ '/x': { security, get: answers('x') } }))
    const state = await request(`${management}/api_specs?view=state`)
    expect(state.json()).toMatchObject({
      specs: { api: { warnings: expected.map((code) => ({ code })) } },
    })
  })

  it.each([false, true])(
    'counts and gauges, its own metrics apart: %p',
    async (isOwnMetricsApart) => {
      const { management, health } = await start({ isOwnMetricsApart })
      await putRealm(management)
      await post(management, '/api_specs', document)
      for (const url of [management, health]) {
        const { text, headers } = await request(`${url}/metrics`)
        expect(headers['content-type']).toMatch(/^text\/plain/)
        for (const line of [
          'svc_gateway_documents 1',
          'svc_gateway_realms 1',
          'svc_gateway_ready 1',
          'svc_gateway_snapshot{state="off"} 1',
          'svc_gateway_loads_total{kind="spec",result="loaded"} 1',
        ])
          expect(text).toContain(line)
      }
    },
  )

  it.each([false, true])(
    'merges metrics only where those of the control process are apart: %p',
    async (isOwnMetricsApart) => {
      let merges = 0
      const family: FamilyState = {
        name: 'requests',
        help: 'Requests',
        type: 'counter',
        series: ['requests'],
        values: [3],
        get merge() {
          merges += 1
          return 'sum' as const
        },
      }
      const { health } = await start({ isOwnMetricsApart, state: [family] })
      const { text } = await request(`${health}/metrics`)
      expect(text).toContain('requests 3\n')
      expect(merges > 0).toBe(isOwnMetricsApart)
    },
  )

  it('is ready at once without a manager, with one when it has synced; not while it drains', async () => {
    const free = await start()
    expect((await request(`${free.health}/ready`)).status).toBe(204)
    free.control.readiness.drain()
    expect((await request(`${free.health}/ready`)).status).toBe(503)
    const managed = await start({ settings: settingsOf('--managed', 'op') })
    expect((await request(`${managed.health}/ready`)).status).toBe(503)
    managed.control.readiness.synced(true, [])
    expect((await request(`${managed.management}/ready`)).status).toBe(204)
    expect((await request(`${managed.management}/ping`)).status).toBe(204)
  })

  it('holds the response to a probe until it is ready, for as long as the probe allows', async () => {
    const { control, health } = await start({ settings: settingsOf('--managed', 'op') })
    const [ready, started] = ['/ready?wait=60', '/started?wait=60'].map((path) =>
      request(`${health}${path}`),
    )
    // With its management API it has started, whether it is ready or not.
    expect((await request(`${health}/started`)).status).toBe(204)
    expect((await request(`${health}/ready?wait=0`)).status).toBe(503)
    control.readiness.synced(true, [])
    expect((await ready)?.status).toBe(204)
    expect((await started)?.status).toBe(204)
  })

  it('holds no response while it drains', async () => {
    const { control, health } = await start({ settings: settingsOf('--managed', 'op') })
    const held = request(`${health}/ready?wait=60`)
    await request(`${health}/ping`)
    control.readiness.drain()
    expect((await held).status).toBe(503)
    expect((await request(`${health}/ready?wait=60`)).status).toBe(503)
  })

  it('answers on a health listener that was open before, also what was requested before', async () => {
    const settings = settingsOf()
    const early = await openHealthListener(settings)
    const [ready, ping] = ['/ready', '/ping'].map((path) =>
      request(`${early?.listener.url ?? ''}${path}`),
    )
    const { health } = await start({ settings, ...(early !== undefined && { early }) })
    expect(health).toBe(early?.listener.url)
    expect([(await ready)?.status, (await ping)?.status]).toEqual([204, 204])
    expect((await request(`${health}/metrics`)).status).toBe(200)
  })

  it('has started without a certificate as soon as an operator comes, and opens with it', async () => {
    await using dir = await makeTempDir()
    const file = (name: string): string => join(dir.path, name)
    const port = await freePort()
    const { control, health } = await start({
      settings: settingsOf(
        ...['--managed', 'op', '--management', `127.0.0.1:${port}`],
        ...['--management-tls-cert', file('tls.crt'), '--management-tls-key', file('tls.key')],
        ...['--management-client-ca', file('ca.crt'), '--management-client-name', 'op'],
      ),
    })
    expect((await request(`${health}/started`)).status).toBe(503)
    const started = request(`${health}/started?wait=60`)
    const operator = connect({ host: '127.0.0.1', port })
    operator.on('error', () => undefined).resume()
    await once(operator, 'close')
    expect((await started).status).toBe(204)
    expect((await request(`${health}/ready`)).status).toBe(503)
    await writeFile(file('tls.crt'), SERVER.cert)
    await writeFile(file('tls.key'), SERVER.key)
    await writeFile(file('ca.crt'), AUTHORITY)
    await eventually(async () => {
      const socket = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      socket.destroy()
    })
    control.readiness.synced(true, [])
    expect((await request(`${health}/started`)).status).toBe(204)
  })

  it('restores a snapshot before it resolves', async () => {
    await using dir = await makeTempDir()
    const settings = settingsOf('--state-dir', dir.path)
    const first = await start({ settings })
    await putRealm(first.management)
    await post(first.management, '/api_specs', document)
    await stop(first.control)
    const second = await start({ settings })
    expect(second.changes.flatMap(({ put }) => put.map(({ id }) => id))).toEqual(['api'])
    const { text } = await request(`${second.health}/metrics`)
    expect(text).toMatch(/svc_gateway_snapshot\{state="(restored|written)"\} 1/)
  })

  it('asks for the token, where there is one', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 'token')
    await writeFile(path, 'secret-token-of-some-length\n')
    const { management } = await start({ settings: settingsOf('--management-token-file', path) })
    expect((await post(management, '/realms', { uri: 'a' })).status).toBe(401)
    const wrong = { authorization: 'Bearer other' }
    expect((await post(management, '/realms', { uri: 'a' }, wrong)).status).toBe(401)
    const right = { authorization: 'Bearer secret-token-of-some-length' }
    expect((await post(management, '/realms', { uri: 'a' }, right)).status).toBe(204)
  })

  it('a token or a certificate is enough; without either no client gets in', async () => {
    await using dir = await makeTempDir()
    await mkdir(dir.path, { recursive: true })
    const file = async (name: string, text: string) => {
      await writeFile(join(dir.path, name), text)
      return join(dir.path, name)
    }
    const settings = settingsOf(
      '--management-token-file',
      await file('token', 'secret-token-of-some-length'),
      '--management-tls-cert',
      await file('cert.pem', SERVER.cert),
      '--management-tls-key',
      await file('key.pem', SERVER.key),
      '--management-client-ca',
      await file('ca.pem', AUTHORITY),
      '--management-client-name',
      'operator',
    )
    const { management } = await start({ settings })
    expect(management).toMatch(/^https:/)
    const ask = (headers: Readonly<Record<string, string>>) =>
      request(`${management}/realms`, { headers, tls: { ca: AUTHORITY, servername: 'localhost' } })
    expect((await ask({})).status).toBe(401)
    expect((await ask({ authorization: 'Bearer secret-token-of-some-length' })).status).toBe(200)
  })

  it('is never open to others without credentials', async () => {
    const settings = {
      ...settingsOf(),
      management: { host: '0.0.0.0', port: 0 },
    } as GatewaySettings
    await expect(start({ settings })).rejects.toThrow('asks for no credentials')
  })
})
