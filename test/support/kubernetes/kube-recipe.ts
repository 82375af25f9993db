// Says what Kubernetes is built from, where the built programs lie, and whether this machine can have them. Builds
// nothing.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { arch, env, platform } from 'node:process'
import type { Availability } from '../availability.ts'
import { cacheDirectory } from '../routers/recipe.ts'

/** Each is a link to one program that looks at the name it is called by. */
export const PROGRAMS = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl'] as const

/** A Go module of its own: the one place with versions. */
export const RECIPE_DIRECTORY = join(import.meta.dirname, 'kube-binaries')

const RECIPE_FILES = ['go.mod', 'go.sum', 'kube/main.go'] as const

/** Outside the checkout, one folder per recipe: a checkout of another day finds its own. */
export const builtDirectory = (): string => {
  const hash = createHash('sha256').update(`${platform}-${arch}`)
  for (const file of RECIPE_FILES) hash.update(readFileSync(join(RECIPE_DIRECTORY, file)))
  return join(cacheDirectory('test-kubernetes'), `kube-${hash.digest('hex').slice(0, 12)}`)
}

export interface Wanted {
  /**
   * Only what is built here will do: it is also all of `kubelet`, `kube-proxy`, `kube-scheduler` and `helm`, which are
   * called as `kube NAME`.
   */
  readonly whole?: boolean
}

/** Holds all programs; its first argument says which. Only in what is built here. */
export const WHOLE_PROGRAM = 'kube'

/** What is there already: all of `KUBEBUILDER_ASSETS` (a part is passed over, versions must fit), else the cache. */
export const findPrograms = ({ whole = false }: Wanted = {}): string | undefined => {
  const { KUBEBUILDER_ASSETS: assets = '' } = env
  const places = whole ? [builtDirectory()] : [assets, builtDirectory()]
  return places.find((directory) => directory !== '' && hasAll(directory))
}

const hasAll = (directory: string): boolean => {
  try {
    for (const name of PROGRAMS) accessSync(join(directory, name), constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Whether the programs are there, or Go to build them. Runs one short command at most. */
export const kubeAvailability = (wanted: Wanted = {}): Availability => {
  if (findPrograms(wanted) !== undefined) return { available: true }
  const lacking = goLacking()
  if (lacking === undefined) return { available: true }
  return {
    available: false,
    why: `Kubernetes is built with ${lacking}; KUBEBUILDER_ASSETS names no directory with ${PROGRAMS.join(', ')} either`,
  }
}

/** Why this machine cannot build it; undefined: it can. */
export const goLacking = (): string | undefined => {
  const needed = goModule().go
  const found = goVersion()
  if (found !== undefined && !isOlder(found, needed)) return undefined
  const here = found === undefined ? 'there is no `go` on PATH' : `\`go\` on PATH is ${found}`
  return `Go ${needed} or later, and ${here}`
}

const GO_VERSION = { command: 'go', args: ['env', 'GOVERSION'] } as const

/** Of the toolchain that would build: an older Go may fetch the one that go.mod asks for, and says so on stderr. */
const goVersion = (): string | undefined => {
  const { status, stdout } = spawnSync(GO_VERSION.command, GO_VERSION.args, {
    cwd: RECIPE_DIRECTORY,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return status === 0 ? /\d+\.\d+(?:\.\d+)?/.exec(stdout)?.[0] : undefined
}

const isOlder = (found: string, needed: string): boolean =>
  found.localeCompare(needed, 'en', { numeric: true }) < 0

export interface GoModule {
  /** The oldest Go that can build it, such as `1.26.0`. */
  readonly go: string
  /** Of a module it requires, without the `v`. */
  readonly versionOf: (module: string) => string
}

export const goModule = (directory: string = RECIPE_DIRECTORY): GoModule => {
  const lines = readFileSync(join(directory, 'go.mod'), 'utf8').split('\n')
  const valueAfter = (prefix: string): string => {
    const line = lines.find((candidate) => candidate.trim().startsWith(prefix))
    if (line === undefined) throw new Error(`go.mod has no line '${prefix}'`)
    return line.trim().slice(prefix.length).split(' ')[0] ?? ''
  }
  return { go: valueAfter('go '), versionOf: (module) => valueAfter(`${module} v`) }
}
