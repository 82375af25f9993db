// Nothing comes in; the directory of Kubernetes' programs goes out, built with Go into a cache outside the
// checkout when they are nowhere yet. What is built already is not looked at again.

import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { whileLocked } from '../routers/build-lock.ts'
import { startChild } from '../routers/router-child.ts'
import {
  builtDirectory,
  findPrograms,
  goModule,
  PROGRAMS,
  RECIPE_DIRECTORY,
} from './kube-recipe.ts'

/** Of whoever waits for another's build. */
const PATIENCE_MS = 3_600_000
const PROGRESS_MS = 20_000

/**
 * With Go's own cache cold it takes 5 minutes on two cores and 2.7 GB of memory, warm half a minute, with a line on
 * stderr every 20 s. Throws with the compiler's last lines.
 */
export const buildKube = async (): Promise<string> => {
  const found = findPrograms()
  if (found !== undefined) return found
  const directory = builtDirectory()
  await whileLocked(
    `${directory}.lock`,
    async () => {
      if (findPrograms() === undefined) await build(directory)
    },
    { patienceMs: PATIENCE_MS },
  )
  return directory
}

/** Beside its place, and moved there last: an interrupted build leaves nothing that looks complete. */
const build = async (directory: string): Promise<void> => {
  await removeRemains(directory)
  const work = `${directory}.building-${process.pid}`
  await mkdir(join(work, 'tmp'), { recursive: true })
  try {
    await compile(work)
    await rm(join(work, 'tmp'), { recursive: true, force: true })
    for (const name of PROGRAMS) await symlink('kube', join(work, name))
    await rm(directory, { recursive: true, force: true })
    await rename(work, directory)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Of builders that were killed. */
const removeRemains = async (directory: string): Promise<void> => {
  const parent = dirname(directory)
  const prefix = `${basename(directory)}.building-`
  for (const entry of await readdir(parent))
    if (entry.startsWith(prefix) && !isAlive(Number(entry.slice(prefix.length))))
      await rm(join(parent, entry), { recursive: true, force: true })
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** The compiler ends with us, as a server would: an interrupted test run leaves no build behind. */
const compile = async (work: string): Promise<void> => {
  const what = `building Kubernetes ${goModule().versionOf('k8s.io/kubernetes')}`
  const startedMs = performance.now()
  const sinceStart = (): string => `${Math.round((performance.now() - startedMs) / 1000)} s`
  process.stderr.write(`${what}: about 5 minutes with a cold Go cache\n`)
  const progress = setInterval(() => {
    process.stderr.write(`${what}: ${sinceStart()}\n`)
  }, PROGRESS_MS)
  const logPath = join(work, 'build.log')
  const program = join(work, 'kube')
  const environment = ['CGO_ENABLED=0', 'GOFLAGS=-mod=readonly', 'GOWORK=off']
  const flags = ['-trimpath', '-buildvcs=false', '-ldflags', linkerFlags(), '-o', program]
  const args = [...environment, `GOTMPDIR=${join(work, 'tmp')}`, 'go', 'build', ...flags, './kube']
  try {
    await startChild({ command: 'env', args, cwd: RECIPE_DIRECTORY, logPath }).ended
  } finally {
    clearInterval(progress)
  }
  // `go build` writes its output only when all went well.
  if (existsSync(program)) process.stderr.write(`${what}: done in ${sinceStart()}\n`)
  else throw new Error(`${what} failed after ${sinceStart()}:\n${await tailOf(logPath)}`)
}

const tailOf = async (path: string): Promise<string> =>
  (await readFile(path, 'utf8')).slice(-4000).trim()

/** What release builds of Kubernetes say of themselves: clients and servers compare it. */
const linkerFlags = (): string => {
  const { versionOf } = goModule()
  const kubernetes = versionOf('k8s.io/kubernetes')
  const [major = '', minor = ''] = kubernetes.split('.')
  const values = ['k8s.io/component-base/version', 'k8s.io/client-go/pkg/version'].flatMap(
    (path) => [
      `${path}.gitVersion=v${kubernetes}`,
      `${path}.gitMajor=${major}`,
      `${path}.gitMinor=${minor}`,
      `${path}.gitTreeState=archive`,
    ],
  )
  values.push(
    `helm.sh/helm/v4/internal/version.version=v${versionOf('helm.sh/helm/v4')}`,
    `sigs.k8s.io/kwok/pkg/consts.Version=${versionOf('sigs.k8s.io/kwok')}`,
  )
  return ['-s', '-w', ...values.flatMap((value) => ['-X', value])].join(' ')
}
