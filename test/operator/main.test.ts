// The program as people run it: a real process, and a real gateway where one is needed.

import { spawn } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { eventually } from '../support/eventually.ts'
import { startGateway } from '../support/gateway-process.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { aSpecification } from '../support/resources.ts'

const MAIN = join(import.meta.dirname, '../../operator/main.ts')

interface Run extends AsyncDisposable {
  readonly out: () => string
  readonly err: () => string
  readonly exited: Promise<number | null>
  readonly kill: (signal: NodeJS.Signals) => void
}

const run = (...argv: readonly string[]): Run => {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env: programEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => (out += String(chunk)))
  child.stderr.on('data', (chunk) => (err += String(chunk)))
  const exited = new Promise<number | null>((resolve) => {
    child.on('close', resolve)
  })
  return {
    out: () => out,
    err: () => err,
    exited,
    kill: (signal) => child.kill(signal),
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

const REALM =
  'apiVersion: gateway.svc.dev/v1alpha1\nkind: Realm\nmetadata: {name: shop}\nspec: {uri: com.shop}\n'

const manifest = (id: string, body: string): string =>
  JSON.stringify({
    apiVersion: 'gateway.svc.dev/v1alpha1',
    kind: 'ApiSpecification',
    metadata: { name: id },
    spec: {
      document: aSpecification(id, {
        host: '_',
        versions: {
          v1: {
            base_path: `/${id}`,
            paths: { '/a': { get: { action: { type: 'static', body }, response: {} } } },
          },
        },
      }),
    },
  })

describe('the command line', () => {
  it.each([
    [['--help'], 0, /--manifests DIR/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
  ])('%j', async (argv, code, words) => {
    const program = run(...argv)
    expect(await program.exited).toBe(code)
    expect(program.out()).toMatch(words)
  })

  it.each([
    [
      ['--manifests', '/nowhere'],
      /^svc-operator: --manifests: '\/nowhere' is neither a directory nor a file\n$/,
    ],
    [['--mainfests', 'x'], /^svc-operator: .*mainfests.*\n$/],
  ])('%j: one clear line, exit 2', async (argv, words) => {
    const program = run(...argv)
    expect(await program.exited).toBe(2)
    expect(program.err()).toMatch(words)
  })

  it('a taken address', async () => {
    await using dir = await makeTempDir()
    const server = createServer()
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const program = run('--manifests', dir.path, '--status', `127.0.0.1:${port}`)
    expect(await program.exited).toBe(2)
    expect(program.err()).toMatch(/^svc-operator: an address is already in use: .*\n$/)
    server.close()
  })
})

describe('the operator and a gateway', () => {
  it('a directory is served, changes, breaks, and is taken away', async () => {
    await using dir = await makeTempDir()
    const manifests = join(dir.path, 'manifests')
    await mkdir(manifests)
    await writeFile(join(manifests, 'realm.yaml'), REALM)
    await writeFile(join(manifests, 'one.json'), manifest('one', 'first'))
    await using gateway = await startGateway({ flags: ['--managed', 'svc-operator'] })
    expect((await fetch(`${gateway.management}/ready`)).status).toBe(503)
    await using operator = run(
      '--manifests',
      manifests,
      '--data-planes',
      gateway.management,
      '--status',
      '127.0.0.1:0',
    )
    const get = async (path: string): Promise<unknown> => {
      const response = await fetch(`${gateway.public}${path}`)
      return response.ok ? response.json() : response.status
    }
    await eventually(
      async () => {
        expect(await get('/one/a')).toBe('first')
        expect((await fetch(`${gateway.management}/ready`)).status).toBe(204)
      },
      { withinMs: 20_000 },
    )
    await writeFile(join(manifests, 'one.json'), manifest('one', 'second'))
    await writeFile(join(manifests, 'two.json'), manifest('two', 'other'))
    await eventually(async () => {
      expect([await get('/one/a'), await get('/two/a')]).toEqual(['second', 'other'])
    })
    await writeFile(join(manifests, 'one.json'), manifest('one', '{{request.body'))
    await eventually(() => {
      expect(operator.out()).toContain('ApiSpecification default/one  Ready=False  Invalid')
    })
    expect(await get('/one/a')).toBe('second')
    await rm(join(manifests, 'two.json'))
    await eventually(async () => {
      expect(await get('/two/a')).toBe(404)
    })
    await rm(manifests, { recursive: true })
    await eventually(() => {
      expect(operator.out()).toContain('until it is back')
    })
    expect(await get('/one/a')).toBe('second')
    const [first] = operator.out().split('\n')
    expect(JSON.parse(first ?? '')).toMatchObject({
      level: 'info',
      time: expect.any(String),
      msg: 'operating',
      manager: 'svc-operator',
    })
    operator.kill('SIGTERM')
    expect(await operator.exited).toBe(0)
    expect(await get('/one/a')).toBe('second')
  }, 60_000)

  it('--once ends: 0 when all is well, 1 when something is not', async () => {
    await using dir = await makeTempDir()
    await writeFile(join(dir.path, 'realm.yaml'), REALM)
    await writeFile(join(dir.path, 'one.json'), manifest('one', 'first'))
    await using gateway = await startGateway({ flags: ['--managed', 'me'] })
    const flags = [
      '--manifests',
      dir.path,
      '--data-planes',
      gateway.management,
      '--status',
      'off',
      '--once',
    ]
    expect(await run(...flags, '--manager', 'me').exited).toBe(0)
    expect(await (await fetch(`${gateway.public}/one/a`)).json()).toBe('first')
    expect(await run(...flags).exited).toBe(1)
  }, 60_000)
})
