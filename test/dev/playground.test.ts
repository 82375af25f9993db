// The playground as its user has it: started by its command, edited, broken, mended, stopped.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { describeEvent } from '../../cli/serve/events.ts'
import { type Playground, startPlayground } from '../../dev/playground.ts'
import { ANY_PORTS, choosePorts, type Ports } from '../../dev/ports.ts'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'
import { programEnvironment } from '../support/program-environment.ts'

const ROOT = join(import.meta.dirname, '../..')
/** Five programs start, on a machine that may have much else to do. */
const LONG_MS = 120_000

describe('a manifest', () => {
  const lines: string[] = []
  let playground: Playground

  beforeAll(async () => {
    playground = await start(lines)
  }, LONG_MS)

  afterAll(() => playground.stop())

  it(
    'is served as soon as it is saved; broken, the last good one is, and the problem is printed',
    async () => {
      const file = join(playground.manifests.path, '01-static.yaml')
      const hello = `${playground.urls.public}/static/hello`
      const good = await readFile(file, 'utf8')
      expect((await request(hello)).json()).toEqual({ message: 'Hello' })

      const edited = good.replace('message: Hello', 'message: Hi')
      await writeFile(file, edited)
      await eventually(async () => {
        expect((await request(hello)).json()).toEqual({ message: 'Hi' })
      })

      await writeFile(file, edited.replace('type: static', 'type: statik'))
      await eventually(() => {
        expect(lines.join('\n')).toMatch(/01-static\.yaml:\d+:\d+ .*\/get\/action\/type.*"statik"/)
      })
      expect((await request(hello)).json()).toEqual({ message: 'Hi' })

      await writeFile(file, good)
      await eventually(async () => {
        expect((await request(hello)).json()).toEqual({ message: 'Hello' })
      })
    },
    LONG_MS,
  )

  it(
    'tells which requests fail, and why',
    async () => {
      const none = `${playground.urls.public}/none/of/these?token=secret`
      expect((await request(none)).status).toBe(404)
      await eventually(() => {
        const events = lines.flatMap((line) => describeEvent('gateway', line, new Date()) ?? [])
        const told = events.find((event) => event.includes('/none/of/these'))
        expect(told).toMatch(
          /GET \/none\/of\/these -> 404 {2}no document serves this host and path {2}code=svc.error.not_found$/,
        )
      })
    },
    LONG_MS,
  )

  it(
    'may be loaded by hand beside the operator',
    async () => {
      const { management, public: publicUrl } = playground.urls
      const paths = { '/x': { get: { action: { type: 'static', body: 'by hand' } } } }
      const document = {
        id: 'by.hand',
        host: '_',
        realm_uri: 'com.example',
        versions: { v1: { base_path: '/by-hand', paths } },
      }
      const loaded = await request(`${management}/api_specs`, { method: 'POST', json: document })
      expect(loaded.status).toBe(204)
      expect((await request(`${publicUrl}/by-hand/x`)).json()).toBe('by hand')
    },
    LONG_MS,
  )
})

describe('a port that is taken', () => {
  it.each(['public', 'management', 'status', 'backend', 'router', 'idp'] as const)(
    'is printed in words: %s',
    async (which) => {
      const server = createServer()
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const address = server.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      try {
        const started = start([], { ...ANY_PORTS, [which]: port })
        await expect(started).rejects.toThrow(new RegExp(`in use.*${port}|${port}.*in use`))
      } finally {
        server.close()
      }
    },
    LONG_MS,
  )
})

// Here, and not beside the other tests of the choice: files run side by side, and `npm start` below takes such ports.
it('knows a port of the usual ones that somebody listens on', async () => {
  const first = await choosePorts()
  expect(first).toHaveProperty('ports')
  const { ports } = first as { readonly ports: Ports }
  const server = createServer()
  await once(server.listen(ports.status, '127.0.0.1'), 'listening')
  const next = await choosePorts()
  server.close()
  expect((next as { readonly ports: Ports }).ports.status).not.toBe(ports.status)
})

describe('npm start', () => {
  let child: ChildProcess | undefined
  afterEach(() => {
    child?.kill('SIGKILL')
  })

  it(
    'greets with requests that work, and ends in order',
    async () => {
      child = spawn(process.execPath, ['dev/main.ts'], {
        cwd: ROOT,
        env: programEnvironment(),
        stdio: ['ignore', 'pipe', 2],
      })
      let output = ''
      child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()))
      await eventually(
        () => {
          expect(output).toContain('Ctrl-C stops everything')
        },
        { withinMs: 60_000 },
      )
      const url = /curl -i (http\S+\/static\/hello)/.exec(output)?.[1] ?? ''
      expect((await request(url)).json()).toEqual({ message: 'Hello' })
      const operator = /operator +(http\S+)/.exec(output)?.[1] ?? ''
      expect((await request(`${operator}/ready`)).status).toBe(204)

      child.kill('SIGINT')
      await expect(once(child, 'close')).resolves.toEqual([0, null])
      await expect(request(url)).rejects.toThrow('ECONNREFUSED')
      await expect(request(`${operator}/ready`)).rejects.toThrow('ECONNREFUSED')
    },
    LONG_MS,
  )
})

const start = (lines: string[] = [], ports = ANY_PORTS): Promise<Playground> =>
  startPlayground({
    ports,
    examples: join(ROOT, 'examples'),
    onLine: (_program, line) => lines.push(line),
  })
