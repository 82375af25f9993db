// Builds a Go module into a directory outside the checkout, once, however many ask at a time. It never leaves anything
// there that is not complete.

import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { whileLocked } from '../routers/build-lock.ts'
import { startChild } from '../routers/router-child.ts'
import { isAlive } from '../is-alive.ts'

/** Of a process that waits for another's build. */
const PATIENCE_MS = 3_600_000
const PROGRESS_MS = 20_000

export interface BuiltOnce {
  readonly directory: string
  readonly isBuilt: () => boolean
  /** Puts everything into `work`, which becomes the directory. */
  readonly make: (work: string) => Promise<void>
}

/** Beside its place, and moved there last: an interrupted build leaves nothing that looks complete. */
export const buildOnce = ({ directory, isBuilt, make }: BuiltOnce): Promise<void> =>
  whileLocked(
    `${directory}.lock`,
    async () => {
      if (isBuilt()) return
      await removeRemains(directory)
      const work = `${directory}.building-${process.pid}`
      await mkdir(work, { recursive: true })
      try {
        await make(work)
        await rm(directory, { recursive: true, force: true })
        await rename(work, directory)
      } finally {
        await rm(work, { recursive: true, force: true })
      }
    },
    { patienceMs: PATIENCE_MS },
  )

/** Of builders that were killed. */
const removeRemains = async (directory: string): Promise<void> => {
  const parent = dirname(directory)
  const prefix = `${basename(directory)}.building-`
  for (const entry of await readdir(parent))
    if (entry.startsWith(prefix) && !isAlive(Number(entry.slice(prefix.length))))
      await rm(join(parent, entry), { recursive: true, force: true })
}

export interface GoBuild {
  /** Told to people: `Kubernetes 1.36.3`. */
  readonly what: string
  /** With Go's own cache cold: `about 5 minutes`. */
  readonly takes: string
  /** The directory of go.mod. */
  readonly module: string
  readonly packages: readonly string[]
  /** Of one package, the program's name; `''`: each under the name of its package. */
  readonly output: string
  /** `path.variable=value` */
  readonly values: readonly string[]
}

/** The compiler ends with us, as a server would: an interrupted test run leaves no build behind. */
export const compile = async (build: GoBuild, work: string): Promise<void> => {
  const what = `building ${build.what}`
  const startedMs = performance.now()
  const sinceStart = (): string => `${Math.round((performance.now() - startedMs) / 1000)} s`
  process.stderr.write(`${what}: ${build.takes} with a cold Go cache\n`)
  const progress = setInterval(() => {
    process.stderr.write(`${what}: ${sinceStart()}\n`)
  }, PROGRESS_MS)
  const temporary = join(work, 'tmp')
  await mkdir(temporary)
  const logPath = join(work, 'build.log')
  const environment = ['CGO_ENABLED=0', 'GOFLAGS=-mod=readonly', 'GOWORK=off']
  const linkerFlags = ['-s', '-w', ...build.values.flatMap((value) => ['-X', value])].join(' ')
  const output = `${work}/${build.output}`
  const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags, '-o', output]
  const command = [`GOTMPDIR=${temporary}`, 'go', 'build', ...flags, ...build.packages]
  try {
    const args = [...environment, ...command]
    await startChild({ command: 'env', args, cwd: build.module, logPath }).ended
  } finally {
    clearInterval(progress)
    await rm(temporary, { recursive: true, force: true })
  }
  // `go build` writes its output only when all went well.
  const outputs = build.output === '' ? build.packages.map((each) => basename(each)) : ['']
  for (const each of outputs)
    if (!(await isThere(join(output, each))))
      throw new Error(`${what} failed after ${sinceStart()}:\n${await tailOf(logPath)}`)
  process.stderr.write(`${what}: done in ${sinceStart()}\n`)
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

const tailOf = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8')).slice(-4000).trim()
