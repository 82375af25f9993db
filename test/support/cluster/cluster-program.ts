// Builds and starts clusters, for people and for CI: `build` builds a node's programs into the cache; `images` builds
// images of tests, those named or all; `up` starts a cluster with the images named in it, prints its kubeconfig as
// JSON, and ends it at SIGTERM.

import { once } from 'node:events'
import { argv } from 'node:process'
import { buildNode } from './build-node.ts'
import {
  CLUSTER_IMAGES,
  type ClusterImageName,
  clusterImages,
  loadClusterImages,
} from './cluster-images.ts'
import { startClusterNode } from './cluster-node.ts'
import { clusterAvailability } from './node-recipe.ts'

const isImageName = (name: string): name is ClusterImageName => Object.hasOwn(CLUSTER_IMAGES, name)

const build = async (): Promise<void> => {
  process.stdout.write(`${(await buildNode()).node}\n`)
}

const images = async (names: readonly ClusterImageName[]): Promise<void> => {
  const all = names.length > 0 ? names : Object.keys(CLUSTER_IMAGES).filter(isImageName)
  for (const name of all) {
    process.stderr.write(`building the image ${CLUSTER_IMAGES[name]}\n`)
    await clusterImages(name)
  }
}

const up = async (names: readonly ClusterImageName[]): Promise<void> => {
  const cluster = await startClusterNode()
  await loadClusterImages(cluster, ...names)
  const { kubeconfig, hostAddress, podCidr, serviceCidr } = cluster
  process.stdout.write(
    `${JSON.stringify({ kubeconfig, hostAddress, podCidr, serviceCidr, directory: cluster.plane.directory })}\n`,
  )
  await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')])
  await cluster[Symbol.asyncDispose]()
}

const COMMANDS: ReadonlyMap<
  string | undefined,
  (names: readonly ClusterImageName[]) => Promise<void>
> = new Map([
  ['build', build],
  ['images', images],
  ['up', up],
])

const run = async (): Promise<void> => {
  const command = COMMANDS.get(argv[2])
  const names = argv.slice(3).filter(isImageName)
  if (command === undefined || names.length < argv.length - 3) {
    const known = Object.keys(CLUSTER_IMAGES).join(' | ')
    throw new Error(`usage: cluster-program.ts build | images [${known}]… | up [${known}]…`)
  }
  const availability = clusterAvailability()
  if (!availability.available) throw new Error(availability.why)
  await command(names)
}

try {
  await run()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
