// Gives the directories of all programs of a cluster, and builds them with Go into a cache outside the checkout when
// they are not there yet.

import { createHash } from 'node:crypto'
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { arch } from 'node:process'
import { buildKube } from '../kubernetes/build-kube.ts'
import { buildOnce, compile } from '../kubernetes/go-build.ts'
import { goModule, WHOLE_PROGRAM } from '../kubernetes/kube-recipe.ts'
import { demandCommand } from '../kubernetes/run-command.ts'
import {
  isNodeBuilt,
  NODE_TOOLS,
  nodeDirectory,
  PACKAGES,
  PAUSE_ARCHIVE,
  PAUSE_IMAGE,
  RECIPE_DIRECTORY,
} from './node-recipe.ts'

export interface ClusterPrograms {
  /** `kubelet`, `helm` and the others are its first argument. */
  readonly kube: string
  /** containerd, its shim, ctr, coredns, plugins of its network, and the archive of pause. */
  readonly node: string
}

/**
 * Beside Kubernetes itself it takes a minute and a half with Go's own cache cold. Throws with the compiler's last lines.
 */
export const buildNode = async (): Promise<ClusterPrograms> => {
  const kube = join(await buildKube({ whole: true }), WHOLE_PROGRAM)
  const directory = nodeDirectory()
  if (!isNodeBuilt()) await buildOnce({ directory, isBuilt: isNodeBuilt, make: build })
  return { kube, node: directory }
}

const CONTAINERD = 'github.com/containerd/containerd/v2'

const build = async (work: string): Promise<void> => {
  const containerd = goModule(RECIPE_DIRECTORY).versionOf(CONTAINERD)
  const what = `containerd ${containerd} and what else a node needs`
  const values = [`${CONTAINERD}/version.Version=${containerd}`]
  const [module, packages] = [RECIPE_DIRECTORY, PACKAGES]
  await compile({ what, takes: 'about 90 s', module, packages, output: '', values }, work)
  await writePauseArchive(work)
  for (const name of NODE_TOOLS) await symlink('node-tools', join(work, name))
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64' }

/** An image of one file, put together by hand. */
const writePauseArchive = async (directory: string): Promise<void> => {
  const parts = join(directory, 'pause-image')
  await mkdir(parts)
  const pack = (archive: string, from: string, names: readonly string[]): Promise<string> =>
    demandCommand({ program: 'tar', args: ['-C', from, '-cf', archive, ...names] })
  const layer = join(parts, 'layer.tar')
  await pack(layer, directory, ['pause'])
  const digest = createHash('sha256')
    .update(await readFile(layer))
    .digest('hex')
  const config = {
    os: 'linux',
    architecture: ARCHITECTURES[arch] ?? arch,
    config: { Entrypoint: ['/pause'], User: '65535:65535' },
    rootfs: { type: 'layers', diff_ids: [`sha256:${digest}`] },
  }
  const manifest = [{ Config: 'config.json', RepoTags: [PAUSE_IMAGE], Layers: ['layer.tar'] }]
  await writeFile(join(parts, 'config.json'), JSON.stringify(config))
  await writeFile(join(parts, 'manifest.json'), JSON.stringify(manifest))
  const archive = join(directory, PAUSE_ARCHIVE)
  await pack(archive, parts, ['manifest.json', 'config.json', 'layer.tar'])
  await rm(parts, { recursive: true })
}
