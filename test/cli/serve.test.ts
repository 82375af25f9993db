// Tests `svc serve` as its user has it: started, edited, broken, mended and stopped, with the real programs.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from '@jest/globals'
import { eventually } from '../support/eventually.ts'
import { request } from '../support/http-request.ts'
import { programEnvironment } from '../support/program-environment.ts'
import { makeTempDir, type TempDir } from '../support/temp-dir.ts'

const MAIN = join(import.meta.dirname, '../../cli/main.ts')
/** Three programs start, on a machine that may have much else to do. */
const LONG_MS = 120_000
const WITHIN = { withinMs: 60_000 }

const manifest = (text: string, name = 'hello'): string => `apiVersion: gateway.svc.dev/v1alpha1
kind: Realm
metadata: { name: ${name} }
spec: { uri: com.${name} }
---
apiVersion: gateway.svc.dev/v1alpha1
kind: ApiSpecification
metadata: { name: ${name} }
spec:
  document:
    id: com.${name}
    host: _
    realm_uri: com.${name}
    versions:
      v1:
        base_path: /${name}
        paths:
          /x:
            get:
              action: { ${text} }
`

const BROKEN = 'type: statik'
const SAYS = (text: string): string => `type: static, body: ${text}`

interface Served {
  readonly output: () => string
  readonly kill: (signal: NodeJS.Signals) => void
  readonly ended: Promise<number | null>
  /** Once it says so. */
  readonly url: () => Promise<string>
}

const ends: (() => Promise<void>)[] = []

afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

const inDirectory = async (files: Readonly<Record<string, string>>): Promise<TempDir> => {
  const directory = await makeTempDir()
  await mkdir(join(directory.path, 'apis'))
  for (const [name, text] of Object.entries(files))
    await writeFile(join(directory.path, 'apis', name), text)
  ends.push(async () => {
    await directory[Symbol.asyncDispose]()
  })
  return directory
}

const ANY = ['--public', '127.0.0.1:0', '--management', '127.0.0.1:0', '--status', '127.0.0.1:0']

const serve = ({ path }: TempDir, ...argv: readonly string[]): Served => {
  const child = spawn(process.execPath, [MAIN, 'serve', ...ANY, ...argv], {
    cwd: path,
    env: programEnvironment({ SVC_GATEWAY_DRAIN_DELAY_SECONDS: '1' }),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null)
  ends.unshift(async () => {
    child.kill('SIGINT')
    await ended
  })
  return {
    output: () => output,
    kill: (signal) => child.kill(signal),
    ended,
    url: async () => {
      await eventually(() => {
        expect(output).toMatch(/^svc serve: .* at http/m)
      }, WITHIN)
      return / at (http:\S+);/.exec(output)?.[1] ?? ''
    },
  }
}

const bodyOf = async (url: string): Promise<unknown> => (await request(url)).json()

describe.each([
  ['a directory', 'apis'],
  ['a file', 'apis/hello.yaml'],
])('svc serve of %s', (_, operand) => {
  it(
    'serves what is saved, keeps the last good version, and writes nothing',
    async () => {
      const directory = await inDirectory({ 'hello.yaml': manifest(SAYS('one')) })
      const served = serve(directory, operand)
      const url = `${await served.url()}/hello/x`
      expect(served.output()).toContain('1 document and 1 realm at http://127.0.0.1:')
      expect(await bodyOf(url)).toBe('one')

      const file = join(directory.path, 'apis/hello.yaml')
      await writeFile(file, manifest(BROKEN))
      await eventually(() => {
        expect(served.output()).toMatch(/apis\/hello\.yaml:20:31 .*\/get\/action\/type.*"statik"/)
      }, WITHIN)
      expect(await bodyOf(url)).toBe('one')

      // As editors save: another file takes its name.
      await writeFile(`${file}.new`, manifest(SAYS('two')))
      await rename(`${file}.new`, file)
      await eventually(async () => {
        expect(await bodyOf(url)).toBe('two')
      }, WITHIN)

      served.kill('SIGINT')
      expect(await served.ended).toBe(0)
      await expect(request(url)).rejects.toThrow('ECONNREFUSED')
      expect(await readdir(directory.path)).toEqual(['apis'])
      expect(await readdir(join(directory.path, 'apis'))).toEqual(['hello.yaml'])
    },
    LONG_MS,
  )
})

describe('svc serve', () => {
  const FILES = { 'a.yaml': manifest(SAYS('a'), 'a'), 'b.yaml': manifest(BROKEN, 'b') }

  it(
    'ends with 1 where something cannot be served, with its place',
    async () => {
      const served = serve(await inDirectory(FILES), 'apis')
      expect(await served.ended).toBe(1)
      expect(served.output()).toMatch(/apis\/b\.yaml:20:31 /)
      expect(served.output()).toContain('svc serve: 1 of 4 resources cannot be served: mend it, or')
    },
    LONG_MS,
  )

  it(
    'serves the rest with --partial, and what was valid before with --state-dir',
    async () => {
      const directory = await inDirectory({ ...FILES, 'b.yaml': manifest(SAYS('b'), 'b') })
      const first = serve(directory, '--state-dir', 'state', 'apis')
      expect(await bodyOf(`${await first.url()}/b/x`)).toBe('b')
      first.kill('SIGTERM')
      expect(await first.ended).toBe(0)
      expect(first.output()).toMatch(/gateway +stopped\n$/)

      await writeFile(join(directory.path, 'apis/b.yaml'), FILES['b.yaml'])
      const second = serve(directory, '--state-dir', 'state', '--partial', 'apis')
      const url = await second.url()
      expect(await bodyOf(`${url}/a/x`)).toBe('a')
      expect(second.output()).toContain('"statik"')
      expect(await bodyOf(`${url}/b/x`)).toBe('b')
    },
    LONG_MS,
  )

  it.each<[string, readonly string[], RegExp]>([
    ['no operand', [], /name one directory with manifests, or one file\n$/],
    ['two', ['apis', 'apis'], /name one directory with manifests, or one file\n$/],
    ['a place that is not there', ['nowhere'], /'nowhere' is neither a directory nor a file/],
    ['an empty directory', ['.empty'], /there is no document and no Realm in \.empty\n$/],
    [
      'an address of another machine',
      ['--public', '192.0.2.1:1', 'apis'],
      /does not have the address/,
    ],
  ])(
    'ends with 2 for %s',
    async (_, argv, words) => {
      const directory = await inDirectory({ 'a.yaml': FILES['a.yaml'] })
      await mkdir(join(directory.path, '.empty'))
      const served = serve(directory, ...argv)
      expect(await served.ended).toBe(2)
      expect(served.output()).toMatch(words)
    },
    LONG_MS,
  )

  it(
    'leaves nothing behind where it is killed',
    async () => {
      const served = serve(await inDirectory({ 'a.yaml': FILES['a.yaml'] }), 'apis')
      const url = `${await served.url()}/a/x`
      expect(await bodyOf(url)).toBe('a')
      served.kill('SIGKILL')
      expect(await served.ended).toBeNull()
      await eventually(async () => {
        await expect(request(url)).rejects.toThrow('ECONNREFUSED')
      }, WITHIN)
    },
    LONG_MS,
  )

  it(
    'passes the logs on as they are with -o json',
    async () => {
      const served = serve(await inDirectory({ 'a.yaml': FILES['a.yaml'] }), '-o', 'json', 'apis')
      await served.url()
      expect(served.output()).toContain('"name":"svc-gateway","documents":1,"realms":1')
    },
    LONG_MS,
  )
})
