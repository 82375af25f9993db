// Keeps images of tests by name in a store of their own in the cache. No daemon, no registry, and never the machine's
// own images.

import { access, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Command, demandCommand, runCommand } from '../kubernetes/run-command.ts'
import { cacheDirectory } from '../routers/recipe.ts'

/** Another number when what every image stands on is made in another way. */
const RECIPE = 1

/** `npm ci` on a busy machine. */
const BUILD_MS = 900_000

/** A gigabyte of it is images. */
export const imageStore = (): string => join(cacheDirectory('test-images'), `store-${RECIPE}`)

const command = (args: readonly string[]): Command => ({
  program: 'buildah',
  args: [
    '--root',
    join(imageStore(), 'images'),
    '--runroot',
    join(imageStore(), 'run'),
    '--storage-driver',
    'overlay',
    ...args,
  ],
  timeoutMs: BUILD_MS,
})

/** @throws with what buildah says */
export const buildah = async (args: readonly string[]): Promise<string> => {
  await mkdir(imageStore(), { recursive: true })
  return (await demandCommand(command(args))).trim()
}

export const hasImage = async (name: string): Promise<boolean> =>
  (await runCommand(command(['inspect', '--type', 'image', name]))).code === 0

/** What a build leaves behind for the next one is of use until its sources change: a day of work leaves gigabytes. */
const KEPT_MS = 2 * 86_400_000

/** Removes what has no name and is older; who has newer layers on top of it keeps it. */
export const forgetOldLayers = async (nowMs: number): Promise<void> => {
  const format = '{{.ID}} {{.CreatedAtRaw}}'
  const nameless = ['images', '--all', '--filter', 'dangling=true', '--format', format]
  const old = (await buildah(nameless)).split('\n').flatMap((line) => {
    const [id = '', day, time = ''] = line.split(' ')
    const createdMs = Date.parse(`${day}T${time.slice(0, 8)}Z`)
    return nowMs - createdMs > KEPT_MS ? [id] : []
  })
  if (old.length > 0) await runCommand(command(['rmi', ...old]))
}

/** Writes an image as one file that containerd and docker understand. @throws where there is no such image */
export const exportImage = async (name: string, path: string): Promise<void> => {
  await buildah(['push', '--quiet', name, `docker-archive:${path}:${name}`])
}

export interface ScratchDirectory extends AsyncDisposable {
  readonly path: string
}

const MEMORY = '/dev/shm'
const ENOUGH_BYTES = 2_000_000_000

/** In memory where there is enough: an image is hundreds of MB that need not be on disk. */
export const makeScratchDirectory = async (): Promise<ScratchDirectory> => {
  const path = await mkdtemp(join((await hasMemory()) ? MEMORY : tmpdir(), 'svc-gateway-image-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}

const hasMemory = async (): Promise<boolean> => {
  try {
    await access(MEMORY)
    const { bavail, bsize } = await statfs(MEMORY)
    return bavail * bsize > ENOUGH_BYTES
  } catch {
    return false
  }
}
