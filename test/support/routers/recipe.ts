// Says what a router is built from, where the built one lies, and whether this machine can have it. Builds nothing.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { arch, env, platform } from 'node:process'
import { type Availability, availableWhenBuilt } from '../availability.ts'

/** Independent routers: nexus in Go, Crossbar.io in Python. */
export type RealRouterName = 'nexus' | 'crossbar'

/** For tests. Runs one short command at most. */
export const routerAvailability = (name: RealRouterName): Availability =>
  availableWhenBuilt(name, isBuilt(name), () => canBuildRouter(name))

/** Whether a router is built already, or the tools to build it are here. Runs one short command at most. */
export const canBuildRouter = (name: RealRouterName): Availability => {
  if (isBuilt(name)) return { available: true }
  const { command, args, lacking } = TOOLS[name]
  if (spawnSync(command, args, { stdio: 'ignore' }).status === 0) return { available: true }
  return { available: false, why: lacking }
}

interface Tool {
  readonly command: string
  readonly args: readonly string[]
  readonly lacking: string
}

const TOOLS = {
  nexus: {
    command: 'go',
    args: ['version'],
    lacking: 'nexus is built with Go 1.21 or later, and there is no `go` on PATH',
  },
  crossbar: {
    command: 'python3',
    // Debian has python3 without ensurepip: then `-m venv` fails half-way.
    args: ['-c', 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))'],
    lacking:
      'Crossbar is installed with Python 3.11 or later, and `python3` on PATH is older, absent or lacks the modules venv and ensurepip',
  },
} satisfies Record<RealRouterName, Tool>

/** The folder of its files here. */
export const recipeDirectory = (name: RealRouterName): string => join(import.meta.dirname, name)

const RECIPE_FILES = {
  nexus: ['main.go', 'go.mod', 'go.sum'],
  crossbar: ['requirements.txt'],
} satisfies Record<RealRouterName, readonly string[]>

/** Outside the checkout, one folder per recipe: a checkout of another day finds its own. */
export const builtDirectory = (name: RealRouterName): string => {
  const hash = createHash('sha256').update(`${platform}-${arch}`)
  for (const file of RECIPE_FILES[name])
    hash.update(readFileSync(join(recipeDirectory(name), file)))
  return join(cacheDirectory('test-routers'), `${name}-${hash.digest('hex').slice(0, 12)}`)
}

/** Where what tests build is kept from one checkout to the next. */
export const cacheDirectory = (what: string): string => {
  const { XDG_CACHE_HOME: base = '' } = env
  return join(base === '' ? join(homedir(), '.cache') : base, 'svc-gateway', what)
}

/** Written last: a build that was cut short has none. */
export const builtStamp = (name: RealRouterName): string => join(builtDirectory(name), 'complete')

export const isBuilt = (name: RealRouterName): boolean => existsSync(builtStamp(name))

const PROGRAMS = {
  nexus: 'nexus',
  crossbar: 'bin/crossbar',
} satisfies Record<RealRouterName, string>

export const builtProgram = (name: RealRouterName): string =>
  join(builtDirectory(name), PROGRAMS[name])
