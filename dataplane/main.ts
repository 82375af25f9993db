#!/usr/bin/env node
// Starts the data plane's program: it reads the settings, then serves, or drains what serves. What serves is loaded only
// to serve: `svc-gateway drain` has to be quick in a container with a small share of a busy machine, 0.06 s instead
// of 0.4.

import '../telemetry/require-node.ts'
import cluster from 'node:cluster'
import { renderHelp } from '../telemetry/settings-help.ts'
import { printableMessage } from '../telemetry/printable.ts'
import { readVersion } from '../telemetry/version.ts'
import { type GatewaySettings, readGatewaySettings, SETTINGS } from './config.ts'
import { runDrainCommand } from './start/drain-command.ts'
import { StartError } from './start-error.ts'

const fail = (message: string): never => {
  process.stderr.write(printableMessage(`svc-gateway: ${message}\n`))
  process.exit(2)
}

const main = async (): Promise<void> => {
  const parsed = readGatewaySettings(process.argv.slice(2))
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
      if (parsed.command === null) await startServing(parsed.settings)
      else await drain(parsed.settings)
  }
}

const startServing = async (settings: GatewaySettings): Promise<void> => {
  // It is a tenth of the size of what is loaded after it.
  const { openHealthListener } = await import('./listen/health-listener.ts')
  const health = await openHealthListener(settings)
  await (await import('./start/serve.ts')).serve(settings, health)
}

const drain = async (settings: GatewaySettings): Promise<void> => {
  const problem = await runDrainCommand({ settings })
  if (problem !== undefined) fail(problem)
}

if (cluster.isWorker) {
  const { serveAsWorker } = await import('./start/serve.ts')
  await serveAsWorker()
} else {
  main().catch((error: unknown) => {
    if (error instanceof StartError) fail(error.message)
    throw error
  })
}
