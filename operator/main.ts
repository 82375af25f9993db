#!/usr/bin/env node
// Is the entry point of the operator: reads settings, runs the operator or a command, and stops in order.

import '../telemetry/require-node.ts'
import { statSync } from 'node:fs'
import { messageOf } from '../base/thrown.ts'
import { breakHabitsOfV8 } from '../base/tune-v8.ts'
import { printable, printableMessage } from '../telemetry/printable.ts'
import { readVersion } from '../telemetry/version.ts'
import { createLog, type Log, logFirstLine, type LogLevel } from '../telemetry/log.ts'
import { startToMeasure } from '../telemetry/process-metrics.ts'
import { renderHelp } from '../telemetry/settings-help.ts'
import {
  clusterEnvironment,
  type OperatorSettings,
  readOperatorSettings,
  SETTINGS,
} from './config.ts'
import type { OperatorStatus } from './controller/controller.ts'
import type { RunningOperator } from './operate.ts'
import { startStatusServer } from './status/status-server.ts'
import type { CommandRun } from './uninstall/with-cluster.ts'

const main = async (): Promise<void> => {
  const parsed = readOperatorSettings(process.argv.slice(2))
  switch (parsed.kind) {
    case 'error':
      return fail(parsed.message)
    case 'help':
    case 'help all':
      process.stdout.write(renderHelp(SETTINGS, parsed.kind))
      return
    case 'version':
      process.stdout.write(`${readVersion()}\n`)
      return
    case 'settings':
      if (parsed.command === null) await run(parsed.settings, parsed.given.has('log-level'))
      else await runCommand(parsed.command as keyof typeof COMMANDS, parsed.settings)
  }
}

const fail = (message: string): never => {
  output.complain(`svc-operator: ${message}\n`)
  process.exit(2)
}

/** The one place where commands write: whatever a cluster made them say, no terminal obeys it. */
const output = {
  print: (lines: string) => process.stdout.write(printable(lines)),
  complain: (line: string) => process.stderr.write(printableMessage(line)),
}

const COMMANDS = {
  uninstall: async () => (await import('./uninstall/uninstall-command.ts')).runUninstall,
  release: async () => (await import('./uninstall/release-command.ts')).runRelease,
} satisfies Record<
  keyof (typeof SETTINGS)['commands'],
  () => Promise<(run: CommandRun) => Promise<number>>
>

const runCommand = async (
  name: keyof typeof COMMANDS,
  settings: OperatorSettings,
): Promise<void> => {
  const log = createLog({ level: settings.logLevel, name: 'svc-operator' })
  try {
    const command = await COMMANDS[name]()
    process.exitCode = await command({ settings, env: clusterEnvironment(), log, ...output })
  } catch (error) {
    fail(messageOf(error))
  }
}

const run = async (settings: OperatorSettings, isLevelGiven: boolean): Promise<void> => {
  breakHabitsOfV8()
  if (settings.kubernetes) {
    const log = createLog({ level: settings.logLevel, name: 'svc-operator' })
    stopOnSignals(await startOnKubernetes(settings, log))
    return
  }
  const { manifests } = settings
  const place = statSync(manifests ?? '', { throwIfNoEntry: false })
  if (manifests === null || (place?.isDirectory() !== true && place?.isFile() !== true))
    return fail(`--manifests: '${String(manifests)}' is neither a directory nor a file`)
  const isTerminal = process.stdout.isTTY && !settings.once
  // Beside a table only warnings and errors: other lines would tear it apart.
  const level: LogLevel = isTerminal && !isLevelGiven ? 'warn' : settings.logLevel
  const log = createLog({ level, name: 'svc-operator' })
  const operator = await start({ ...settings, manifests }, { log, isTerminal })
  stopOnSignals(operator)
  if (settings.once) await finish(operator)
}

const startOnKubernetes = async (
  settings: OperatorSettings,
  log: Log,
): Promise<Pick<RunningOperator, 'stop'>> => {
  const onOpen = (facts: Readonly<Record<string, unknown>>): void => {
    logFirstLine('svc-operator', 'operating', facts)
    void startToMeasure()
  }
  try {
    // Opened before the rest is loaded, which takes a busy machine seconds: a probe that finds no server is a Warning.
    const health =
      settings.health === 'off' ? undefined : await startStatusServer(settings.health, 'probes')
    // Imported here, so that an operator on a laptop does not load what only a cluster needs.
    const { operateOnKubernetes } = await import('./operate-kubernetes.ts')
    return await operateOnKubernetes({ settings, env: clusterEnvironment(), log, health, onOpen })
  } catch (error) {
    return failToStart(error)
  }
}

const start = async (
  settings: OperatorSettings & { readonly manifests: string },
  { log, isTerminal }: { readonly log: Log; readonly isTerminal: boolean },
): Promise<RunningOperator> => {
  const clear = (): void => {
    process.stdout.write(CLEAR)
  }
  try {
    const { manifests, manager, dataPlanes } = settings
    const onOpen = (status: string | undefined): void => {
      if (isTerminal) return
      logFirstLine('svc-operator', 'operating', { manifests, manager, dataPlanes, status })
    }
    const { operate } = await import('./operate.ts')
    return await operate({
      settings,
      log,
      output: { isTerminal, clear, write: output.print },
      onOpen,
    })
  } catch (error) {
    return failToStart(error)
  }
}

const failToStart = (error: unknown): never => {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  const words = messageOf(error)
  return fail(isTaken ? `an address is already in use: ${words}` : words)
}

const stopOnSignals = (operator: Pick<RunningOperator, 'stop'>): void => {
  let isStopping = false
  const stop = (): void => {
    if (isStopping) process.exit(1)
    isStopping = true
    void operator.stop().then(() => process.exit(0))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
}

/** The screen alone: what has scrolled out of it stays. */
const CLEAR = '\u001b[H\u001b[2J'

const finish = async (operator: RunningOperator): Promise<void> => {
  const status = await operator.settled
  await operator.stop()
  process.exitCode = isAllReady(status) ? 0 : 1
}

const isAllReady = ({ resources, notes }: OperatorStatus): boolean =>
  !notes.some(({ severity }) => severity === 'error') &&
  [...resources.values()].every(({ conditions }) =>
    conditions.some(({ type, status }) => type === 'Ready' && status === 'True'),
  )

await main()
