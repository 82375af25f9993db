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

/** Removes images without a name that the next build has no use for; layers below newer ones stay. */
export const forgetOldImages = async (nowMs: number): Promise<void> => {
  const format = '{{.ID}} {{.CreatedAtRaw}}'
  const nameless = ['images', '--all', '--filter', 'dangling=true', '--format', format]
  const old = oldImages((await buildah(nameless)).split('\n'), nowMs)
  if (old.length > 0) await runCommand(command(['rmi', ...old]))
}

const KEPT_MS = 2 * 86_400_000
/** Each build leaves three, of up to 0.7 GB. */
const KEPT_IMAGES = 12

/**
 * The ids of all but the newest.
 * @param lines `ID YYYY-MM-DD HH:MM:SS… +0000 UTC`
 * @example oldImages(['a 2026-11-01 10:00:00 +0000 UTC'], Date.parse('2026-11-09')) // ['a']
 */
export const oldImages = (lines: readonly string[], nowMs: number): readonly string[] =>
  lines
    .map((line) => {
      const [id = '', day, time = ''] = line.split(' ')
      return { id, createdMs: Date.parse(`${day}T${time.slice(0, 8)}Z`) }
    })
    .sort((a, b) => b.createdMs - a.createdMs)
    .filter(({ createdMs }, i) => i >= KEPT_IMAGES || nowMs - createdMs > KEPT_MS)
    .map(({ id }) => id)

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
