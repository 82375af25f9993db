// Builds images of tests by name, as far as anything has changed, and loads them into a cluster where one is given.

import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { whileLocked } from '../routers/build-lock.ts'
import { buildRouter } from '../routers/build-router.ts'
import { buildImage } from './build-image.ts'
import type { ClusterNode } from './cluster-node.ts'
import { forgetOldImages, imageStore, makeScratchDirectory } from './image-store.ts'

/** Of what the tests run in pods: the project's own, and those around it. */
export const CLUSTER_IMAGES = {
  /** Both programs. */
  gateway: 'localhost/svc-gateway:test',
  /** An application: see `echo/echo-program.ts`. */
  echo: 'localhost/echo:test',
  /** A WAMP router; its argument is `-c FILE`, a file such as `nexus.json`. */
  nexus: 'localhost/nexus:test',
  /** An OpenID provider; its argument is `IdpOptions` as JSON, it listens on 8080. */
  idp: 'localhost/idp:test',
} as const

export type ClusterImageName = keyof typeof CLUSTER_IMAGES

const ROOT = join(import.meta.dirname, '../../..')
const ALL = Object.keys(CLUSTER_IMAGES) as readonly ClusterImageName[]
const BUILD_MS = 1_200_000

/**
 * Those named, or all. A second each where nothing has changed: a test that needs one asks for it again.
 *
 * @returns what pods name them by
 * @throws with the end of the build's output
 */
export const clusterImages = async (
  ...names: readonly ClusterImageName[]
): Promise<typeof CLUSTER_IMAGES> => {
  for (const name of names.length === 0 ? ALL : names)
    await whileLocked(join(imageStore(), `${name}.lock`), BUILDS[name], { patienceMs: BUILD_MS })
  await forgetOldImages(Date.now())
  return CLUSTER_IMAGES
}

/** @example beforeAll(() => loadClusterImages(cluster(), 'gateway', 'echo'), ROLLOUT_MS) */
export const loadClusterImages = async (
  cluster: ClusterNode,
  ...names: readonly ClusterImageName[]
): Promise<void> => {
  await clusterImages(...names)
  for (const name of names) await cluster.loadImage(CLUSTER_IMAGES[name])
}

const buildGateway = async (): Promise<void> => {
  await buildImage({ tag: CLUSTER_IMAGES.gateway, context: ROOT })
}

const buildEcho = async (): Promise<void> => {
  await buildImage({ tag: CLUSTER_IMAGES.echo, context: join(import.meta.dirname, 'echo') })
}

const dockerfileOf = (name: ClusterImageName): string =>
  join(import.meta.dirname, name, 'Dockerfile')

const buildNexus = async (): Promise<void> => {
  const context = dirname(await buildRouter('nexus'))
  await buildImage({ tag: CLUSTER_IMAGES.nexus, context, dockerfile: dockerfileOf('nexus') })
}

/** What the provider imports, from the packages that are installed here: no other is asked for. */
const buildIdp = async (): Promise<void> => {
  await using scratch = await makeScratchDirectory()
  const copy = async (path: string): Promise<void> => {
    const to = join(scratch.path, path)
    await mkdir(dirname(to), { recursive: true })
    await cp(join(ROOT, path), to, { recursive: true, preserveTimestamps: true })
  }
  for (const path of ['package.json', 'base', 'dev/idp', 'test/support/cluster/idp'])
    await copy(path)
  for (const name of await packagesOf('oidc-provider')) await copy(`node_modules/${name}`)
  const context = scratch.path
  await buildImage({ tag: CLUSTER_IMAGES.idp, context, dockerfile: dockerfileOf('idp') })
}

/** Those that lie beside it: what lies within a package comes with it. */
const packagesOf = async (name: string): Promise<readonly string[]> => {
  const found = new Set([name])
  for (const each of found) {
    const path = join(ROOT, 'node_modules', each)
    for (const dependency of await dependenciesBelow(path))
      if (await isDirectory(join(ROOT, 'node_modules', dependency))) found.add(dependency)
  }
  return [...found]
}

interface PackageFile {
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Its own, and those of packages within. */
const dependenciesBelow = async (path: string): Promise<readonly string[]> => {
  const text = await readFile(join(path, 'package.json'), 'utf8').catch(() => '{}')
  const { dependencies = {} } = JSON.parse(text) as PackageFile
  const within = join(path, 'node_modules')
  const nested: string[] = []
  for (const entry of await readdir(within).catch((): readonly string[] => []))
    nested.push(...(await dependenciesBelow(join(within, entry))))
  return [...Object.keys(dependencies), ...nested]
}

const isDirectory = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

const BUILDS = {
  gateway: buildGateway,
  echo: buildEcho,
  nexus: buildNexus,
  idp: buildIdp,
} satisfies Record<ClusterImageName, () => Promise<void>>
