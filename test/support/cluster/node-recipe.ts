// Says what a node is built from, where the built programs lie, and whether this machine can have one. Builds nothing.

import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { arch, env, getuid, platform } from 'node:process'
import { builtDirectory, goLacking, kubeAvailability } from '../kubernetes/kube-recipe.ts'
import type { Availability } from '../availability.ts'
import { cacheDirectory } from '../routers/recipe.ts'

/** A Go module of its own: the one place with versions. */
export const RECIPE_DIRECTORY = join(import.meta.dirname, 'node-binaries')

const RECIPE_FILES = ['go.mod', 'go.sum', 'node-tools/main.go', 'pause/main.go'] as const

/** Links to one program that looks at the name it is called by. */
export const NODE_TOOLS = ['containerd', 'ctr', 'coredns'] as const

/** Packages as Go names them. */
export const PACKAGES = [
  './node-tools',
  './pause',
  'github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2',
  'github.com/containernetworking/plugins/plugins/main/bridge',
  'github.com/containernetworking/plugins/plugins/main/loopback',
  'github.com/containernetworking/plugins/plugins/ipam/host-local',
  'github.com/containernetworking/plugins/plugins/meta/portmap',
] as const

/** The image of a pod's sandbox, beside the programs. */
export const PAUSE_ARCHIVE = 'pause.tar'
export const PAUSE_IMAGE = 'localhost/pause:1'

/** Outside the checkout, one folder per recipe. */
export const nodeDirectory = (): string => {
  const hash = createHash('sha256').update(`${platform}-${arch}`)
  for (const file of RECIPE_FILES) hash.update(readFileSync(join(RECIPE_DIRECTORY, file)))
  return join(cacheDirectory('test-kubernetes'), `node-${hash.digest('hex').slice(0, 12)}`)
}

/** Written last. */
export const isNodeBuilt = (): boolean => existsSync(join(nodeDirectory(), NODE_TOOLS[2]))

/** Program → the Debian package that has it. */
const NEEDED: Readonly<Record<string, string>> = {
  bash: 'bash',
  buildah: 'buildah',
  ip: 'iproute2',
  mmdebstrap: 'mmdebstrap',
  nft: 'nftables',
  npm: 'npm',
  nsenter: 'util-linux',
  runc: 'runc',
  tar: 'tar',
  unshare: 'util-linux',
}

/** Whether a node can run here: on Linux, as root, with what no npm package brings. Runs one short command at most. */
export const clusterAvailability = (): Availability => {
  if (platform !== 'linux') return { available: false, why: `a node needs Linux, not ${platform}` }
  if (getuid?.() !== 0) return { available: false, why: 'a node needs root' }
  const lacking = Object.entries(NEEDED).filter(([program]) => !isOnPath(program))
  if (lacking.length > 0) {
    const packages = [...new Set(lacking.map(([, from]) => from))].join(' ')
    const programs = lacking.map(([program]) => program).join(', ')
    return { available: false, why: `no ${programs}: install Debian's ${packages}` }
  }
  const kube = kubeAvailability({ whole: true })
  if (!kube.available || isNodeBuilt()) return kube
  const go = goLacking()
  return go === undefined
    ? { available: true }
    : { available: false, why: `a node is built with ${go}; ${builtDirectory()} is there already` }
}

const isOnPath = (program: string): boolean =>
  (env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
