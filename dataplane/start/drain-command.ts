// Implements `svc-gateway drain`: it finds the running gateway, tells it to drain by SIGUSR2 and waits out its delay,
// so that a preStop hook ends when clients have turned away. It needs no credentials but those of the same user.

import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { GatewaySettings } from '../config.ts'
import { StartError } from '../start-error.ts'
import { messageOf } from '../../base/thrown.ts'

export interface DrainCommand {
  readonly settings: Pick<GatewaySettings, 'pidFile' | 'drainDelaySeconds'>
  readonly kill?: (pid: number, signal: NodeJS.Signals) => unknown
  /** The command line of a process; undefined where the system does not provide it. */
  readonly commandLineOf?: (pid: number) => string | undefined
  readonly sleep?: (ms: number) => Promise<void>
}

/** undefined on success, otherwise one line with the reason. */
export const runDrainCommand = async (command: DrainCommand): Promise<string | undefined> => {
  const { settings, commandLineOf = readCommandLine, sleep = wait } = command
  const pid = settings.pidFile === null ? INIT : readPid(settings.pidFile)
  if (pid === undefined) return 'the --pid-file contains no process id; is the gateway running?'
  // A signal could end an unrelated process: process 1 outside a container, or a process id that was reused.
  const commandLine = commandLineOf(pid) ?? (settings.pidFile === null ? '' : PROGRAM)
  if (!isGateway(commandLine)) {
    return `process ${pid} is not a gateway: give the --pid-file that it was started with`
  }
  try {
    if (command.kill === undefined) process.kill(pid, 'SIGUSR2')
    else command.kill(pid, 'SIGUSR2')
  } catch (error) {
    return `process ${pid} cannot be told to drain: ${messageOf(error)}`
  }
  await sleep(settings.drainDelaySeconds * 1000)
  return undefined
}

/**
 * Writes the process id for `drain`; the function it returns removes the file.
 * @throws StartError when it cannot be written
 */
export const writePidFile = (path: string | null, pid: number = process.pid): (() => void) => {
  if (path === null) return () => undefined
  try {
    writeFileSync(path, `${pid}\n`)
  } catch (error) {
    throw new StartError(`--pid-file ${path}: cannot be written: ${messageOf(error)}`, error)
  }
  return () => {
    if (readPid(path) === pid) rmSync(path, { force: true })
  }
}

/** In a container the gateway is the first process. */
const INIT = 1

const PROGRAM = 'svc-gateway'

const readPid = (path: string): number | undefined => {
  try {
    const pid = Number(readFileSync(path, 'utf8').trim())
    return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
  } catch {
    return undefined
  }
}

const isGateway = (commandLine: string): boolean =>
  commandLine.includes(PROGRAM) || /dataplane[/\\]main\.[jt]s/.test(commandLine)

const readCommandLine = (pid: number): string | undefined => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return undefined
  }
}

const wait = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms)
  })
