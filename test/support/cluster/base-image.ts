// Builds the image that Dockerfiles call `node:24-slim`: Debian's packages and npm's copy of Node, made once.

import { join } from 'node:path'
import { arch, env } from 'node:process'
import { demandCommand } from '../kubernetes/run-command.ts'
import { whileLocked } from '../routers/build-lock.ts'
import { buildah, hasImage, imageStore, makeScratchDirectory } from './image-store.ts'

const NODE_MAJOR = 24

/** `FROM node:24-slim` finds it. */
const BASE_IMAGE = `localhost/node:${NODE_MAJOR}-slim`

const DEBIAN = 'bookworm'
const MAKE_MS = 900_000

/** A minute, 320 MB. @throws with what a tool says */
export const ensureBaseImage = async (): Promise<string> => {
  if (await hasImage(BASE_IMAGE)) return BASE_IMAGE
  await whileLocked(
    join(imageStore(), 'base.lock'),
    async () => {
      if (await hasImage(BASE_IMAGE)) return
      process.stderr.write(`making the image ${BASE_IMAGE}: about a minute\n`)
      const startedMs = performance.now()
      await make()
      const seconds = Math.round((performance.now() - startedMs) / 1000)
      process.stderr.write(`made the image ${BASE_IMAGE} in ${seconds} s\n`)
    },
    { patienceMs: MAKE_MS },
  )
  return BASE_IMAGE
}

const make = async (): Promise<void> => {
  await using scratch = await makeScratchDirectory()
  const root = join(scratch.path, 'root.tar')
  await packDebian(root, scratch.path)
  await installNode(scratch.path)
  const modules = join(scratch.path, 'node_modules')
  const container = await buildah(['from', 'scratch'])
  try {
    await buildah(['add', '--quiet', container, root, '/'])
    const node = join(modules, NODE_PACKAGE, 'bin/node')
    await buildah(['copy', '--quiet', container, node, '/usr/local/bin/node'])
    const npm = '/usr/local/lib/node_modules/npm'
    await buildah(['copy', '--quiet', container, join(modules, 'npm'), npm])
    await buildah(['run', '--isolation', 'chroot', container, '--', 'sh', '-ec', FINISH])
    await buildah(['config', '--cmd', 'node', container])
    await buildah(['commit', '--quiet', container, BASE_IMAGE])
  } finally {
    await buildah(['rm', container])
  }
}

const NODE_PACKAGE = `node-linux-${arch}`

/** As the image of Docker's library has it: the user `node`, and npm; and npm trusts what the system does. */
const FINISH = `
ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx
mkdir -p /usr/local/etc && echo cafile=/etc/ssl/certs/ca-certificates.crt >/usr/local/etc/npmrc
useradd --uid 1000 --create-home --shell /bin/sh node`

const packDebian = async (path: string, scratch: string): Promise<void> => {
  await demandCommand({
    program: 'mmdebstrap',
    args: [
      '--quiet',
      '--variant=minbase',
      '--include=ca-certificates,libstdc++6',
      '--dpkgopt=force-unsafe-io',
      '--dpkgopt=path-exclude=/usr/share/doc/*',
      '--dpkgopt=path-exclude=/usr/share/locale/*',
      DEBIAN,
      path,
    ],
    environment: { ...env, TMPDIR: scratch },
    timeoutMs: MAKE_MS,
  })
}

const installNode = async (directory: string): Promise<void> => {
  const quietly = ['--no-save', '--no-audit', '--no-fund', '--silent']
  await demandCommand({
    program: 'npm',
    args: ['install', ...quietly, '--prefix', '.', `${NODE_PACKAGE}@${NODE_MAJOR}`, 'npm@11'],
    cwd: directory,
    timeoutMs: MAKE_MS,
  })
}
