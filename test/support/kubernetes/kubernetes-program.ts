// Builds and starts control planes, for people and for CI: `build` builds Kubernetes' programs into the cache and
// prints where they are; `up` starts a control plane, prints its kubeconfig as JSON, and ends it at SIGTERM.

import { once } from 'node:events'
import { dirname } from 'node:path'
import { argv } from 'node:process'
import { buildKube } from './build-kube.ts'
import { startControlPlane } from './control-plane.ts'
import { kubeAvailability } from './kube-recipe.ts'

const up = async (): Promise<void> => {
  const plane = await startControlPlane()
  const { kubeconfig, pids } = plane
  process.stdout.write(`${JSON.stringify({ kubeconfig, directory: dirname(kubeconfig), pids })}\n`)
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await plane[Symbol.asyncDispose]()
}

const build = async (): Promise<void> => {
  process.stdout.write(`${await buildKube()}\n`)
}

const COMMANDS: ReadonlyMap<string | undefined, () => Promise<void>> = new Map([
  ['build', build],
  ['up', up],
])

const run = async (): Promise<void> => {
  const command = COMMANDS.get(argv[2])
  const availability = kubeAvailability()
  if (command === undefined) throw new Error('usage: kubernetes-program.ts build|up')
  if (!availability.available) throw new Error(availability.why)
  await command()
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
