// Composes all rooms to a serving gateway, from the settings to an orderly shutdown. It is loaded only by a process
// that serves.

import { validate } from '../../language/validate.ts'
import { createLog, type Log, logFirstLine } from '../../telemetry/log.ts'
import { startToMeasure } from '../../telemetry/process-metrics.ts'
import { ProcessStatusRegistry, peersOfOne } from './cluster/process-status.ts'
import { collectGarbage } from '../../base/collect-garbage.ts'
import { openSecurityState } from './security-state.ts'
import type { ClusterOptions } from './cluster/cluster.ts'
import { countProcesses } from '../process-count.ts'
import type { GatewaySettings } from '../config.ts'
import { createControl } from './control.ts'
import { writePidFile } from './drain-command.ts'
import type { HealthListener } from '../listen/health-listener.ts'
import { createMeasurements, type GatewayMetrics } from '../metrics.ts'
import { type Plane, serveHere } from './plane.ts'
import { createServingParts, type ServingHome, type ServingProcess } from './serving-parts.ts'
import { createShutdown, stopOnSignals } from './shutdown.ts'
import { checkPrivateDoors, PRIVATE_DOORS } from './private-doors.ts'
import { openTraces } from './traces.ts'
import { ServiceDirectory } from '../upstream/endpoints/service-directory.ts'
import { breakHabitsOfV8 } from '../../base/tune-v8.ts'

/** Serves until a signal ends it. @throws StartError with the line to print */
export const serve = async (
  settings: GatewaySettings,
  health: HealthListener | undefined,
): Promise<void> => {
  breakHabitsOfV8()
  const log = createLog({ level: settings.logLevel, name: 'svc-gateway' })
  checkPrivateDoors(log, PRIVATE_DOORS)
  const processes = countProcesses(settings.processes)
  const processStatus = new ProcessStatusRegistry()
  const security = await openSecurityState(settings, log)
  const home = { ...security, peers: peersOfOne(processStatus), services: new ServiceDirectory() }
  const parts = processes === 1 ? await createParts(settings, log, home) : undefined
  const { metrics } = parts?.measurements ?? createMeasurements()
  const plane =
    parts === undefined
      ? await startWorkers({ processes, settings, log, processStatus, security }, metrics)
      : serveHere(parts, { settings, log, services: home.services })
  const isOwnMetricsApart = parts === undefined
  const control = await createControl({
    settings,
    log,
    plane,
    processStatus,
    metrics,
    isOwnMetricsApart,
    ...(health !== undefined && { health }),
  })
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
  logFirstLine('svc-gateway', 'listening', { ...publicUrls, ...controlUrls })
  setImmediate(prepareForWork)
}

/** Does now, while hardly any request waits, what would delay requests during the first load or scrape. */
const prepareForWork = (): void => {
  // Loads ajv, which compiles the schema at its first use.
  validate({})
  void startToMeasure().finally(collectGarbage)
}

const startWorkers = async (options: ClusterOptions, metrics: GatewayMetrics): Promise<Plane> => {
  const { startCluster } = await import('./cluster/cluster.ts')
  const onRestart = (): void => {
    metrics.count('workerRestarts', {})
  }
  const plane = startCluster({ ...options, onRestart })
  metrics.gauge('workers', () => [[{}, plane.size]])
  return plane
}

/** Runs one of several serving processes, with the settings of its primary. */
export const serveAsWorker = async (): Promise<void> => {
  breakHabitsOfV8()
  const { runWorker } = await import('./cluster/worker.ts')
  runWorker({
    channel: process,
    create: async (settings, home) => {
      const log = createLog({ level: settings.logLevel, name: 'svc-gateway' })
      return { parts: await createParts(settings, log, home), log }
    },
    // Once the primary knows that it listens. At the first scrape it would measure from there.
    onListening: () => {
      setImmediate(() => void startToMeasure())
    },
    exit: (code) => process.exit(code),
  })
}

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
