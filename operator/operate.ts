// Runs the operator without Kubernetes: watches resources, keeps data planes in line, shows the status.

import { limitsFrom } from '../compiler/limits.ts'
import type { Log } from '../telemetry/log.ts'
import type { OperatorSettings } from './config.ts'
import { Controller, type OperatorStatus } from './controller/controller.ts'
import { SYSTEM_CLOCK } from '../base/clock.ts'
import { credentialFiles } from './credential-files.ts'
import { createOperatorCompiler, CachingCompiler } from './document-compiler.ts'
import { createCredentialReader } from './fleet/client/credentials.ts'
import { alwaysLeading } from './leadership.ts'
import { staticDataPlanes } from './fleet/static-data-planes.ts'
import { startEpoch } from './epoch.ts'
import { ManifestSource } from './manifests/manifest-source.ts'
import { createOperatorMetrics } from './metrics.ts'
import type { Locate } from './resource/resource-source.ts'
import { createStatusPrinter, type Output } from './status/status-printer.ts'
import { debugPages } from './status/debug-pages.ts'
import { fleetPages } from './status/fleet-pages.ts'
import { overviewPages } from './status/overview-pages.ts'
import { statusPages } from './status/page.ts'
import { type StatusServer, startStatusServer } from './status/status-server.ts'

export interface RunningOperator {
  /** Resolves when every resource has been validated and every data plane was tried once. */
  readonly settled: Promise<OperatorStatus>
  stop(): Promise<void>
}

export interface OperateOptions {
  readonly settings: OperatorSettings & { readonly manifests: string }
  readonly log: Log
  readonly output: Output
  /** Called before anything is read; with the address of the status server, when there is one. */
  readonly onOpen: (statusUrl: string | undefined) => void
}

/** @throws Error with a `code` where the status address can't be listened on */
export const operate = async ({
  settings,
  log,
  output,
  onOpen,
}: OperateOptions): Promise<RunningOperator> => {
  const now = (): number => SYSTEM_CLOCK.now()
  const source = new ManifestSource({ directory: settings.manifests, log })
  const print = createStatusPrinter(output, now, source.locate)
  const compiler = createOperatorCompiler({ limits: limitsFrom(settings), timers: SYSTEM_CLOCK })
  const settled = Promise.withResolvers<OperatorStatus>()
  const controller: Controller = new Controller({
    source,
    fleet: {
      dataPlanes: staticDataPlanes(settings.dataPlanes),
      manager: settings.manager,
      credentials: createCredentialReader(credentialFiles(settings)),
      withholdMs: settings.withholdSeconds * 1000,
    },
    leadership: alwaysLeading(startEpoch(now)),
    validating: { className: settings.class },
    deletedRealmMs: settings.deletedRealmSeconds * 1000,
    compiler: (onResult) => new CachingCompiler({ compiler, onResult, log }),
    clock: SYSTEM_CLOCK,
    log,
    onStatus: (status) => {
      print(status)
      if (isSettled(status)) settled.resolve(status)
    },
  })
  const server = await openStatus(settings, controller, source.locate)
  onOpen(server?.url)
  await controller.start()
  return {
    settled: settled.promise,
    stop: async () => {
      await controller.stop()
      await compiler.close()
      await server?.close()
    },
  }
}

/** Every data plane was tried: a problem that exists now will not disappear within a moment. */
const isSettled = ({ isReady, isLeading, dataPlanes, resources }: OperatorStatus): boolean =>
  isReady &&
  isLeading &&
  dataPlanes.every(({ phase }) => phase !== 'connecting' && phase !== 'syncing') &&
  [...resources.values()].every(
    ({ conditions, result }) =>
      result.isPending !== true &&
      conditions.every(({ status, reason }) => status !== 'False' || reason !== 'Pending'),
  )

const openStatus = async (
  { status, manager }: OperatorSettings,
  controller: Controller,
  locate: Locate,
): Promise<StatusServer | undefined> => {
  if (status === 'off') return undefined
  const sources = { status: () => controller.status, locate }
  const desired = () => controller.desired
  return startStatusServer(status, 'people', {
    ...statusPages({
      ...sources,
      metrics: createOperatorMetrics(() => controller.status),
      unready: () =>
        controller.status.isReady ? undefined : 'the resources have not been read yet',
    }),
    ...debugPages({ ...sources, desired }),
    ...overviewPages({ ...sources, desired, manager }),
    ...fleetPages({ fleet: () => controller.fleet }),
  })
}
