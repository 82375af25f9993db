// Starts, stops and kills the servers of a control plane as a whole.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../eventually.ts'
import { WHOLE_PROGRAM } from './kube-recipe.ts'
import { type ApiClient, demand } from './api-client.ts'
import {
  apiServerFlags,
  controllerFlags,
  etcdFlags,
  schedulerFlags,
  type ServerSettings,
} from './server-commands.ts'
import { createServerProcess, type ServerProcess } from './server-process.ts'

/** A machine under load needs it; it is ready after 3 s. */
const START_MS = 120_000

export interface Servers {
  readonly etcd: ServerProcess
  readonly apiServer: ServerProcess
  /** In the order in which they start. */
  readonly all: readonly ServerProcess[]
  /** Those that do not run; resolves when all are ready. */
  start(): Promise<void>
  stop(): Promise<void>
  kill(): Promise<void>
}

export const createServers = (
  programs: string,
  settings: ServerSettings,
  api: ApiClient,
): Servers => {
  const { directory, hasControllers, hasScheduler } = settings
  const server = (name: string, args: readonly string[], program = name): ServerProcess =>
    createServerProcess({
      command: join(programs, program),
      args: program === name ? args : [name, ...args],
      cwd: directory,
      logPath: join(directory, `${name}.log`),
    })
  const etcd = server('etcd', etcdFlags(settings))
  const apiServer = server('kube-apiserver', apiServerFlags(settings))
  const controllers = server('kube-controller-manager', controllerFlags(settings))
  const scheduler = server('kube-scheduler', schedulerFlags(settings), WHOLE_PROGRAM)
  const all = [
    etcd,
    apiServer,
    ...(hasControllers ? [controllers] : []),
    ...(hasScheduler ? [scheduler] : []),
  ]
  const kill = async (): Promise<void> => {
    await Promise.all(all.map((each) => each.kill()))
  }
  const ready = async (path: string, needed: readonly ServerProcess[]): Promise<void> => {
    const hasEnded = await eventually(
      async () => {
        if (needed.some(({ isRunning }) => !isRunning)) return true
        demand(await api.send({ path }))
        return false
      },
      { withinMs: START_MS, everyMs: 50 },
    )
    if (hasEnded) throw new Error('a server ended')
  }
  return {
    etcd,
    apiServer,
    all,
    kill,
    start: async () => {
      try {
        for (const each of [etcd, apiServer]) if (!each.isRunning) each.start()
        await ready('/readyz', [etcd, apiServer])
        for (const each of all) if (!each.isRunning) each.start()
        if (!hasControllers) return
        await ready('/api/v1/namespaces/default/serviceaccounts/default', all)
      } catch (cause) {
        await kill()
        throw new Error(`no control plane:\n${await endOfLogs(directory)}`, { cause })
      }
    },
    stop: async () => {
      for (const each of all.toReversed()) await each.stop()
    },
  }
}

const endOfLogs = async (directory: string): Promise<string> => {
  const ends: string[] = []
  for (const program of ['etcd', 'kube-apiserver', 'kube-controller-manager']) {
    const log = await readFile(join(directory, `${program}.log`), 'utf8').catch(() => '')
    ends.push(`${program}: ${log.slice(-1500).trim()}`)
  }
  return ends.join('\n')
}
