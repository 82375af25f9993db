#!/usr/bin/env node
// The data plane's composition root: reads settings, wires the rooms, listens, and shuts down in order.

import { text } from 'node:stream/consumers'
import { createLog, type Log } from '../telemetry/log.ts'
import { renderHelp } from '../telemetry/settings-help.ts'
import { readVersion } from '../telemetry/version.ts'
import { BridgeBoard, peersOfOne } from './bridge-board.ts'
import { openSecurityState } from './security-state.ts'
import { type ClusterOptions, isClusterWorker, startCluster } from './cluster.ts'
import { countProcesses } from './cluster-size.ts'
import { runWorker } from './cluster-worker.ts'
import { type GatewaySettings, readGatewaySettings, SETTINGS } from './config.ts'
import { createControl } from './control.ts'
import { runDrainCommand, writePidFile } from './drain-command.ts'
import { createMeasurements, type GatewayMetrics } from './metrics.ts'
import { type Plane, serveHere } from './plane.ts'
import { hashPassword } from './security/hash-password.ts'
import { createServingParts, type ServingHome, type ServingProcess } from './serving-parts.ts'
import { createShutdown, stopOnSignals } from './shutdown.ts'
import { StartError } from './start-error.ts'
import { openTraces } from './traces.ts'

const createParts = async (
  settings: GatewaySettings,
  log: Log,
  home: ServingHome,
): Promise<ServingProcess> =>
  createServingParts({
    settings,
    log,
    home,
    traces: await openTraces(settings, log),
    writeLines: (lines) => process.stdout.write(lines),
  })

const serve = async (settings: GatewaySettings): Promise<void> => {
  const log = createLog({ level: settings.logLevel, name: 'svc-gateway' })
  const processes = countProcesses(settings.processes)
  const board = new BridgeBoard()
  const security = await openSecurityState(settings, log)
  const home = { ...security, peers: peersOfOne(board) }
  const parts = processes === 1 ? await createParts(settings, log, home) : undefined
  const { metrics } = parts?.measurements ?? createMeasurements()
  const plane =
    parts === undefined
      ? startWorkers({ processes, settings, log, board, security }, metrics)
      : serveHere(parts, settings, log)
  const isOwnMetricsApart = parts === undefined
  const control = await createControl({ settings, log, plane, board, metrics, isOwnMetricsApart })
  const publicUrls = await plane.listen()
  const controlUrls = (await control.listen()).urls()
  plane.announce([...Object.values(publicUrls), ...Object.values(controlUrls)])
  const removePidFile = writePidFile(settings.pidFile)
  const shutdown = createShutdown({
    settings,
    serving: {
      ...plane,
      beginDraining: () => {
        control.readiness.drain()
        plane.beginDraining()
      },
    },
    finish: async () => {
      await control.close()
      await security.shared.close()
      removePidFile()
    },
    log,
  })
  stopOnSignals(process, shutdown, (code) => process.exit(code))
  process.stdout.write(`${JSON.stringify({ msg: 'listening', ...publicUrls, ...controlUrls })}\n`)
}

const startWorkers = (options: ClusterOptions, metrics: GatewayMetrics): Plane => {
  const onRestart = (): void => {
    metrics.count('workerRestarts', {})
  }
  const plane = startCluster({ ...options, onRestart })
  metrics.gauge('workers', () => [[{}, plane.size]])
  return plane
}

const COMMANDS: Readonly<
  Record<string, (settings: GatewaySettings) => Promise<string | undefined>>
> = {
  drain: (settings) => runDrainCommand({ settings }),
  'hash-password': async () => {
    const password = (await text(process.stdin)).replace(/\r?\n$/, '')
    if (password === '') return 'hash-password: give the password on stdin'
    process.stdout.write(`${await hashPassword(password)}\n`)
    return undefined
  },
}

const fail = (message: string): never => {
  process.stderr.write(`svc-gateway: ${message}\n`)
  process.exit(2)
}

const main = async (): Promise<void> => {
  const parsed = readGatewaySettings(process.argv.slice(2))
  switch (parsed.kind) {
    case 'fault':
      return fail(parsed.message)
    case 'help':
      process.stdout.write(renderHelp(SETTINGS))
      return
    case 'version':
      process.stdout.write(`${readVersion()}\n`)
      return
    case 'settings':
      if (parsed.command === null) await serve(parsed.settings)
      else await runCommand(parsed.command, parsed.settings)
  }
}

const runCommand = async (command: string, settings: GatewaySettings): Promise<void> => {
  const problem = await COMMANDS[command]?.(settings)
  if (problem !== undefined) fail(problem)
}

if (isClusterWorker()) {
  runWorker({
    channel: process,
    create: async (settings, home) => {
      const log = createLog({ level: settings.logLevel, name: 'svc-gateway' })
      return { parts: await createParts(settings, log, home), log }
    },
    exit: (code) => process.exit(code),
  })
} else {
  main().catch((error: unknown) => {
    if (error instanceof StartError) fail(error.message)
    throw error
  })
}
