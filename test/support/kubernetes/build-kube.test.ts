// Kubernetes' programs are found where they are, and built once where they are not, by however many ask at once, and
// also after a build that was cut short. The compiler is a stand-in here: the real one takes minutes.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { eventually } from '../eventually.ts'
import { makeTempDir, type TempDir } from '../temp-dir.ts'
import { PROGRAMS } from './kube-recipe.ts'

/** Says which version it is, and builds as slowly as it is told; a line of `calls` for every build. */
const FAKE_GO = `#!${process.execPath}
const { appendFileSync, writeFileSync } = require('node:fs')
const [command] = process.argv.slice(2)
const { GO_VERSION, GO_CALLS, GO_SLOW_MS, GO_FAULT } = process.env
if (command === 'env') console.log(GO_VERSION)
else {
  appendFileSync(GO_CALLS, process.pid + '\\n')
  setTimeout(() => {
    if (GO_FAULT) {
      console.error(GO_FAULT)
      process.exitCode = 1
    } else writeFileSync(process.argv[process.argv.indexOf('-o') + 1], 'kube', { mode: 0o755 })
  }, Number(GO_SLOW_MS))
}
`

interface Workshop {
  readonly path: string
  readonly build: (environment?: Readonly<Record<string, string>>) => ChildProcess
  /** Of the compilers so far. */
  readonly calls: () => Promise<readonly number[]>
  /** What stands in the cache, without the hash. */
  readonly cached: () => Promise<readonly string[]>
}

const openWorkshop = async (dir: TempDir, { hasGo = true } = {}): Promise<Workshop> => {
  const bin = join(dir.path, 'bin')
  await mkdir(bin)
  for (const tool of ['sh', 'env']) await symlink(await whereIs(tool), join(bin, tool))
  if (hasGo) await writeFile(join(bin, 'go'), FAKE_GO, { mode: 0o755 })
  const callsPath = join(dir.path, 'calls')
  const env = {
    // Nothing else: the machine's own Go must not be found.
    PATH: bin,
    XDG_CACHE_HOME: dir.path,
    GO_CALLS: callsPath,
    GO_VERSION: 'go1.99.1',
    GO_SLOW_MS: '300',
  }
  return {
    path: dir.path,
    build: (environment = {}) =>
      spawn(process.execPath, [join(import.meta.dirname, 'kubernetes-program.ts'), 'build'], {
        env: { ...env, ...environment },
      }),
    calls: async () => {
      const lines = await readFile(callsPath, 'utf8').catch(() => '')
      return lines.trim().split('\n').filter(Boolean).map(Number)
    },
    cached: async () => {
      const entries = await readdir(join(dir.path, 'svc-gateway', 'test-kubernetes'))
      return entries.map((entry) => entry.replace(/^kube-[0-9a-f]{12}/, ''))
    },
  }
}

const whereIs = async (tool: string): Promise<string> => {
  const { stdout } = await resultOf(spawn('sh', ['-c', `command -v ${tool}`]))
  return stdout.trim()
}

const resultOf = async (
  child: ChildProcess,
): Promise<{ readonly code: unknown; readonly stdout: string; readonly stderr: string }> => {
  const read = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.on('data', (chunk: Buffer) => {
      read[name] += chunk.toString()
    })
  const [code] = (await once(child, 'close')) as [unknown]
  return { code, ...read }
}

it('two who ask at once have it built once, with a line that says so', async () => {
  await using dir = await makeTempDir()
  const workshop = await openWorkshop(dir)
  const results = await Promise.all([workshop.build(), workshop.build()].map(resultOf))
  expect(results.map(({ code }) => code)).toEqual([0, 0])
  const [first, second] = results.map(({ stdout }) => stdout.trim())
  expect(first).toBe(second)
  expect((await readdir(first ?? '')).toSorted()).toEqual(
    [...PROGRAMS, 'build.log', 'kube'].toSorted(),
  )
  expect(await workshop.calls()).toHaveLength(1)
  expect(results.map(({ stderr }) => stderr).join('')).toMatch(
    /building Kubernetes .*: about 5 min/,
  )
  expect(await workshop.cached()).toEqual([''])
})

it('is built again after a builder that was killed, whose compiler ends with it', async () => {
  await using dir = await makeTempDir()
  const workshop = await openWorkshop(dir)
  const killed = workshop.build({ GO_SLOW_MS: '60000' })
  const [compiler = 0] = await eventually(
    async () => {
      const calls = await workshop.calls()
      expect(calls).toHaveLength(1)
      return calls
    },
    { withinMs: 15_000 },
  )
  killed.kill('SIGKILL')
  await once(killed, 'close')
  await eventually(() => {
    expect(() => process.kill(compiler, 0)).toThrow('ESRCH')
  })
  expect(await workshop.cached()).toHaveLength(2)
  const { code } = await resultOf(workshop.build())
  expect({ code, cached: await workshop.cached() }).toEqual({ code: 0, cached: [''] })
})

it.each([
  {
    title: 'a compiler that fails',
    environment: { GO_FAULT: 'kube/main.go:1: no such package' },
    expected: 'kube/main.go:1: no such package',
  },
  {
    title: 'an old compiler',
    environment: { GO_VERSION: 'go1.9.7' },
    expected: /Go 1\.\d+\.\d+ or later, and `go` on PATH is 1\.9\.7/,
  },
  {
    title: 'an incomplete directory of programs',
    environment: { KUBEBUILDER_ASSETS: '/usr/bin', GO_FAULT: 'asked to build' },
    expected: 'asked to build',
  },
])('$title is told', async ({ environment, expected }) => {
  await using dir = await makeTempDir()
  const workshop = await openWorkshop(dir)
  const { code, stderr } = await resultOf(workshop.build(environment))
  expect(code).toBe(1)
  expect(stderr).toMatch(expected)
})

it('the lack of a compiler is reported', async () => {
  await using dir = await makeTempDir()
  const workshop = await openWorkshop(dir, { hasGo: false })
  const { code, stderr } = await resultOf(workshop.build())
  expect(code).toBe(1)
  expect(stderr).toContain('there is no `go` on PATH')
})

it('programs that are there already are taken as they are', async () => {
  await using dir = await makeTempDir()
  const workshop = await openWorkshop(dir)
  const assets = join(dir.path, 'assets')
  await mkdir(assets)
  for (const name of PROGRAMS) await writeFile(join(assets, name), '', { mode: 0o755 })
  const { code, stdout } = await resultOf(workshop.build({ KUBEBUILDER_ASSETS: assets }))
  expect({ code, stdout: stdout.trim(), calls: await workshop.calls() }).toEqual({
    code: 0,
    stdout: assets,
    calls: [],
  })
})
