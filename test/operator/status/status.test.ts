import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import type { OperatorStatus } from '../../../operator/controller/controller.ts'
import type { DataPlaneReport } from '../../../operator/data-plane.ts'
import { createOperatorMetrics } from '../../../operator/metrics.ts'
import { Reconciler } from '../../../operator/reconcile/reconciler.ts'
import { StatusRegistry } from '../../../operator/reconcile/status/status-registry.ts'
import { createStatusPrinter } from '../../../operator/status/status-printer.ts'
import { healthPages, type PageSources, statusPages } from '../../../operator/status/page.ts'
import { statusRecord } from '../../../operator/status/status-record.ts'
import { renderProblems, renderTable } from '../../../operator/status/status-rows.ts'
import { startStatusServer } from '../../../operator/status/status-server.ts'
import { loopbackAddresses } from '../../support/loopback-addresses.ts'
import { makeTempDir } from '../../support/temp-dir.ts'
import { aSpecification, cacheOf, resourceOf } from '../../support/resources.ts'

const plane = (more: Partial<DataPlaneReport> = {}): DataPlaneReport => ({
  dataPlane: { name: 'gateway:1', url: 'http://gateway:1', labels: {} },
  phase: 'synced',
  message: '',
  ready: true,
  documents: new Map(),
  realms: new Map(),
  realmsGiven: new Set(),
  rejected: { documents: new Map(), realms: new Map() },
  ...more,
})

const aStatus = (more: Partial<OperatorStatus> = {}): OperatorStatus => {
  const reconciler = new Reconciler({ className: 'svc' })
  const resources = [
    resourceOf('Realm', 'shop', {
      spec: { uri: 'com.shop', callbackSecret: { secretRef: { name: 'keys', key: 'k' } } },
    }),
    resourceOf('Secret', 'keys', { stringData: { k: 'HUSH-HUSH' } }),
    resourceOf('ApiSpecification', 'orders', {
      spec: { document: aSpecification('orders', { surprise: 1 }) },
    }),
    resourceOf(
      'ApiSpecification',
      'broken',
      { spec: { document: { id: 'broken' } } },
      { namespace: 'other', createdAt: 0 },
    ),
    resourceOf('ApiSpecification', 'lost', {
      spec: { document: aSpecification('lost', { realm_uri: 'com.nope' }) },
    }),
  ]
  const { results, desired } = reconciler.reconcile(cacheOf(resources))
  const documents = new Map(
    [...desired.documents].map(([id, { digest }]) => [id, { digest, warnings: [] }]),
  )
  const dataPlanes = [plane({ documents })]
  return {
    isReady: true,
    isLeading: true,
    resources: new StatusRegistry().update(results, dataPlanes, 5_000),
    dataPlanes,
    notes: [],
    ...more,
  }
}

describe('the table', () => {
  const table = renderTable(aStatus(), 90_000_000)
  it('has the columns of kubectl', () => {
    expect(table).toMatch(/^NAME +HOST +REALM +SERVING +GATEWAYS +PROGRAMMED +READY +REASON +AGE$/m)
    expect(table).toMatch(/^orders +orders.test +com.shop +1 +1\/1 +True +True +Ready +1d$/m)
    expect(table).toMatch(/^other\/broken +– +– +False +False +Invalid +1d$/m)
    expect(table).toMatch(/^shop +com.shop +True +Ready +1d$/m)
    expect(table).toMatch(/^gateway:1 +synced +True +1$/m)
  })

  it('names every fault and warning with resource and pointer', () => {
    expect(table).toContain(
      'ApiSpecification other/broken /spec/document/host missing_required_value',
    )
    expect(table).toContain('ApiSpecification default/orders /spec/document/surprise warning: ')
    expect(table).toContain("ApiSpecification default/lost there is no realm 'com.nope'")
  })

  it.each([
    [59_999, '58s'],
    [3_600_000, '59m'],
    [7_300_000, '2h'],
    [0, '0s'],
  ])('at %d ms the age is %s', (nowMs, age) => {
    expect(renderTable(aStatus(), nowMs)).toMatch(new RegExp(`^orders .* ${age}$`, 'm'))
  })

  it('shows no secret', () => {
    expect(`${table}${JSON.stringify(statusRecord(aStatus()))}`).not.toContain('HUSH')
  })

  it('is in one order, whatever has changed of it', () => {
    const status = aStatus()
    const turned = { ...status, resources: new Map([...status.resources].reverse()) }
    expect(status.resources.size).toBeGreaterThan(2)
    expect(statusRecord(turned)).toEqual(statusRecord(status))
  })

  it('names the place of each problem, where its resource is in a file', () => {
    const status = aStatus()
    const inFile = new Map(
      [...status.resources].map(([key, each]) => {
        const resource = {
          ...each.result.resource,
          origin: { file: 'a.yaml', line: 1, column: 1 },
        }
        return [key, { ...each, result: { ...each.result, resource } }] as const
      }),
    )
    const placed = { ...status, resources: inFile }
    const locate = (_: unknown, pointer: string) =>
      pointer === '/spec/document/surprise' ? { line: 7, column: 5 } : undefined
    const place = 'ApiSpecification default/orders /spec/document/surprise warning: '
    expect(renderTable(placed, 0, locate)).toContain(`a.yaml:7:5 ${place}`)
    expect(renderTable(placed, 0)).toContain(`a.yaml:1:1 ${place}`)
    expect(JSON.stringify(statusRecord(placed, undefined, undefined, locate))).toMatch(
      /"path":"\/spec\/document\/surprise",[^}]*"line":7,"column":5\}/,
    )
  })

  it('tells what is wrong with files and data planes', () => {
    const faults = renderProblems(
      aStatus({
        notes: [
          {
            severity: 'warning',
            message: 'on is read as true',
            origin: { file: 'a.yaml', line: 3, column: 1 },
            resource: 'Realm default/shop',
            path: '/spec/uri',
          },
          { severity: 'error', message: 'not YAML' },
        ],
        dataPlanes: [plane({ phase: 'unreachable', message: 'nothing listens there' })],
      }),
    )
    expect(faults).toContain('a.yaml:3:1 Realm default/shop /spec/uri warning: on is read as true')
    expect(faults).toContain('not YAML')
    expect(faults).toContain('data plane gateway:1: nothing listens there')
  })
})

describe('of several replicas', () => {
  const standby = { role: 'standby', leader: null, message: 'b leads and answers' } as const

  it('a standby has no lists that look as if there were nothing', () => {
    const status = aStatus({ isLeading: false, resources: new Map(), dataPlanes: [] })
    expect(statusRecord(status, standby, undefined)).toEqual({
      ready: true,
      leading: false,
      ...standby,
      notes: [],
    })
  })

  it('the leader says what it waits for', () => {
    const leader = { role: 'leader', leader: { name: 'a', namespace: 'svc' } } as const
    const told = statusRecord(aStatus(), leader, 'the data planes are not known yet')
    expect(told).toMatchObject({ ...leader, message: 'the data planes are not known yet' })
    expect(statusRecord(aStatus(), leader)).not.toHaveProperty('message')
  })

  it('one that is alone leads, and needs no name', () => {
    expect(statusRecord(aStatus())).toMatchObject({ leading: true, role: 'leader' })
    expect(statusRecord(aStatus())).not.toHaveProperty('leader')
  })
})

describe('printing', () => {
  const print = (
    isTerminal: boolean,
  ): { readonly show: (status: OperatorStatus) => void; readonly out: string[] } => {
    const out: string[] = []
    const output = {
      isTerminal,
      clear: () => out.push('cleared'),
      write: (text: string) => out.push(text),
    }
    return { show: createStatusPrinter(output, () => 10_000), out }
  }

  it('a terminal gets a table, again only when it changes', () => {
    const { show, out } = print(true)
    show(aStatus({ isReady: false }))
    expect(out).toEqual([])
    show(aStatus())
    show(aStatus())
    expect(out).toEqual(['cleared', expect.stringContaining('orders')])
    show(aStatus({ dataPlanes: [] }))
    expect(out).toHaveLength(4)
  })

  it('elsewhere a line for each change', () => {
    const { show, out } = print(false)
    show(aStatus({ isReady: false }))
    show(aStatus())
    show(aStatus())
    expect(out).toHaveLength(1)
    expect(out[0]).toContain('ApiSpecification default/orders  Ready=True  Ready')
    expect(out[0]).toContain('  ApiSpecification other/broken /spec/document/host')
    show(aStatus({ resources: new Map() }))
    expect(out[1]).toContain('ApiSpecification default/orders  gone')
  })
})

describe('the status server', () => {
  const sources: PageSources = {
    status: () => aStatus(),
    unready: () => unready,
    metrics: createOperatorMetrics(() => aStatus()),
  }
  const pages = { ...statusPages(sources), ...healthPages(sources) }
  let unready: string | undefined

  it('answers status, probes and metrics', async () => {
    const server = await startStatusServer(
      { kind: 'tcp', host: '127.0.0.1', port: 0 },
      'people',
      pages,
    )
    try {
      const get = (path: string, method = 'GET'): Promise<Response> =>
        fetch(`${server.url}${path}`, { method })
      const status = (await (await get('/status?x=1')).json()) as {
        readonly resources: readonly object[]
      }
      expect(status.resources).toHaveLength(4)
      expect((await get('/ping')).status).toBe(204)
      expect((await get('/ready')).status).toBe(204)
      expect((await get('/livez')).status).toBe(204)
      expect((await get('/readyz')).status).toBe(204)
      unready = 'nothing was read'
      expect((await get('/ready')).status).toBe(503)
      const unwell = await get('/readyz')
      expect(unwell.status).toBe(503)
      expect(await unwell.json()).toMatchObject({ message: 'nothing was read' })
      expect((await get('/livez')).status).toBe(204)
      const metrics = await (await get('/metrics')).text()
      expect(metrics).toContain('svc_operator_resources{kind="ApiSpecification",ready="True"} 1')
      expect(metrics).toContain('svc_operator_data_planes{phase="synced"} 1')
      expect(metrics).toContain('process_cpu_seconds_total')
      expect((await get('/__proto__')).status).toBe(404)
      expect((await get('/status', 'POST')).status).toBe(405)
    } finally {
      await server.close()
    }
  })

  it('holds what is requested before there are pages, and an error for as long as the request says', async () => {
    const server = await startStatusServer({ kind: 'tcp', host: '127.0.0.1', port: 0 }, 'probes')
    try {
      const get = async (path: string): Promise<number> =>
        (await fetch(`${server.url}${path}`)).status
      const [live, missing] = [get('/livez'), get('/nothing?wait=60')]
      unready = 'nothing was read'
      const [held, atOnce] = [get('/readyz?wait=60'), get('/readyz')]
      server.serve(pages)
      expect([await live, await missing, await atOnce]).toEqual([204, 404, 503])
      unready = undefined
      expect(await held).toBe(204)
    } finally {
      await server.close()
    }
  })

  it('holds no other fault, and makes that page once', async () => {
    let calls = 0
    const fault = () => {
      calls++
      return { error: 'no gateway is ready' }
    }
    const server = await startStatusServer({ kind: 'tcp', host: '127.0.0.1', port: 0 }, 'people', {
      '/routes': fault,
    })
    try {
      expect((await fetch(`${server.url}/routes?wait=1`)).status).toBe(503)
      expect(calls).toBe(1)
    } finally {
      await server.close()
    }
  })

  it.each(loopbackAddresses())(
    'listens on every address, where none is named: %s',
    async (host) => {
      const server = await startStatusServer({ kind: 'tcp', host: '', port: 0 }, 'people', pages)
      const { port } = new URL(server.url)
      expect((await fetch(`http://${host}:${port}/status`)).status).toBe(200)
      await server.close()
    },
  )

  it('listens on a unix socket', async () => {
    await using dir = await makeTempDir()
    const path = join(dir.path, 's.sock')
    const server = await startStatusServer({ kind: 'unix', path }, 'people', pages)
    expect(server.url).toBe(`unix:${path}`)
    const status = await new Promise((resolve) => {
      request({ socketPath: path, path: '/ping' }, ({ statusCode }) => {
        resolve(statusCode)
      }).end()
    })
    expect(status).toBe(204)
    await server.close()
  })

  it('an address of IPv6, and a fault inside', async () => {
    const broken = { '/metrics': () => Promise.reject(new Error('no')) }
    const server = await startStatusServer({ kind: 'tcp', host: '::1', port: 0 }, 'people', broken)
    expect(server.url).toMatch(/^http:\/\/\[::1\]:/)
    expect((await fetch(`${server.url}/metrics`)).status).toBe(500)
    await server.close()
  })

  it('a taken address is an error with its code', async () => {
    const first = await startStatusServer(
      { kind: 'tcp', host: '127.0.0.1', port: 0 },
      'people',
      pages,
    )
    const port = Number(new URL(first.url).port)
    await expect(
      startStatusServer({ kind: 'tcp', host: '127.0.0.1', port }, 'people', pages),
    ).rejects.toMatchObject({ code: 'EADDRINUSE' })
    await first.close()
  })
})
