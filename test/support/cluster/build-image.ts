// Builds an image for nodes of tests from a Dockerfile and its context. What has not changed is not built again.

import { access, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../kubernetes/run-command.ts'
import { ensureBaseImage } from './base-image.ts'
import { buildah, makeScratchDirectory } from './image-store.ts'

export interface ImageOptions {
  /** `localhost/echo:test`: no registry is asked for it. */
  readonly tag: string
  readonly context: string
  /** Of the context where left out. */
  readonly dockerfile?: string
  readonly buildArgs?: Readonly<Record<string, string>>
}

/**
 * A second where nothing has changed. Every `FROM` must be there already: `FROM node:24-slim` is. During the build,
 * `RUN npm ci` trusts whom this machine trusts and asks the registry that its npm would; the image keeps neither.
 *
 * @throws with the end of the build's output
 * @example await buildImage({ tag: 'localhost/echo:test', context: 'test/support/cluster/echo' })
 */
export const buildImage = async (options: ImageOptions): Promise<string> => {
  const { tag, context, dockerfile = join(context, 'Dockerfile'), buildArgs = {} } = options
  await ensureBaseImage()
  await using scratch = await makeScratchDirectory()
  const args = Object.entries(buildArgs).flatMap(([name, value]) => [
    '--build-arg',
    `${name}=${value}`,
  ])
  const lent = await lendToBuild(scratch.path)
  await buildah([
    'build',
    '--isolation',
    'chroot',
    '--network',
    'host',
    '--pull-never',
    '--layers',
    ...lent.flatMap(({ from, to }) => ['--volume', `${from}:${to}:ro`]),
    '--tag',
    tag,
    '--file',
    dockerfile,
    ...args,
    context,
  ])
  return tag
}

interface Lent {
  readonly from: string
  readonly to: string
}

const AUTHORITIES = '/etc/ssl/certs/ca-certificates.crt'

/** Mounted while it builds. In an image of another base than ours an empty file stays in their place. */
const lendToBuild = async (scratch: string): Promise<readonly Lent[]> => {
  const settings = join(scratch, 'npmrc')
  const registry = await npmRegistry()
  await writeFile(settings, `cafile=${AUTHORITIES}\n${registry && `registry=${registry}\n`}`)
  const npmrc = { from: settings, to: '/usr/local/etc/npmrc' }
  const hasAuthorities = await access(AUTHORITIES).then(
    () => true,
    () => false,
  )
  return hasAuthorities ? [{ from: AUTHORITIES, to: AUTHORITIES }, npmrc] : [npmrc]
}

const npmRegistry = async (): Promise<string> => {
  const { code, stdout } = await runCommand({ program: 'npm', args: ['config', 'get', 'registry'] })
  return code === 0 ? stdout.trim() : ''
}
