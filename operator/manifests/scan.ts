// Lists the manifest files below a directory, or the one file that is named instead, with a stamp of each. Follows links, leaves out hidden files, editors'
// leftovers and files that are not YAML or JSON. Bounded in depth, files and bytes.

import type { BigIntStats } from 'node:fs'
import { readdir, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { messageOf } from '../../base/thrown.ts'

export interface ScannedFile {
  /** Relative to the directory, `/` between parts; empty where the file itself was named. */
  readonly path: string
  readonly bytes: number
  /** Another one whenever the file may have changed. */
  readonly stamp: string
  /** Time of the last change of content or inode, nanoseconds: survives our restart, reveals nothing of the content. */
  readonly changedAt: string
}

export type Scan =
  | { readonly files: readonly ScannedFile[]; readonly tooMuch?: string }
  /** The directory itself does not exist or can't be listed. */
  | { readonly gone: string }

export const MAX_FILES = 10_000
export const MAX_BYTES = 64 * 1024 * 1024
const MAX_DEPTH = 16

/** @param root a directory, or one file, whatever its name is */
export const scanDirectory = async (root: string): Promise<Scan> => {
  const file = await scanFile(root, '')
  if (file !== undefined) return { files: [file] }
  const walk: Walk = { root, files: [], bytes: 0, seen: new Set(), tooMuch: undefined }
  try {
    await visit(root, 0, walk)
  } catch (error) {
    return { gone: `the directory ${root} can't be listed: ${words(error)}` }
  }
  const files = walk.files.sort((left, right) => (left.path < right.path ? -1 : 1))
  return walk.tooMuch === undefined ? { files } : { files, tooMuch: walk.tooMuch }
}

/** Undefined: it does not exist (any more), or is not a file. */
export const scanFile = async (root: string, path: string): Promise<ScannedFile | undefined> => {
  const stats = await statOf(join(root, path))
  return stats?.isFile() === true ? scannedFile(path, stats) : undefined
}

/** @example isManifestName('.orders.yaml.swp') // false */
export const isManifestName = (name: string): boolean =>
  !isHidden(name) && /\.(?:ya?ml|json)$/i.test(name)

/** Also `..data` of a mounted ConfigMap, whose files are reached by their links. */
export const isHidden = (name: string): boolean => name.startsWith('.') || name.startsWith('#')

interface Walk {
  readonly root: string
  readonly files: ScannedFile[]
  bytes: number
  /** Real paths of directories: a link back up is not followed twice. */
  readonly seen: Set<string>
  tooMuch: string | undefined
}

const visit = async (directory: string, depth: number, walk: Walk): Promise<void> => {
  const real = await realpath(directory)
  if (walk.seen.has(real)) return
  walk.seen.add(real)
  const names = (await readdir(directory)).filter((name) => !isHidden(name)).sort()
  for (const name of names) {
    if (walk.tooMuch !== undefined) return
    await visitEntry(join(directory, name), { name, depth }, walk)
  }
}

const visitEntry = async (
  full: string,
  { name, depth }: { readonly name: string; readonly depth: number },
  walk: Walk,
): Promise<void> => {
  const stats = await statOf(full)
  if (stats?.isDirectory() === true && depth < MAX_DEPTH) await visit(full, depth + 1, walk)
  if (stats?.isFile() !== true || !isManifestName(name)) return
  walk.files.push(scannedFile(relative(walk.root, full), stats))
  walk.bytes += Number(stats.size)
  if (walk.files.length > MAX_FILES)
    walk.tooMuch = `${walk.root} holds more than ${MAX_FILES} manifest files`
  else if (walk.bytes > MAX_BYTES)
    walk.tooMuch = `the manifests below ${walk.root} are larger than 64 MiB in all`
}

/** A link to nowhere, or a file deleted meanwhile, is ignored. */
const statOf = async (path: string): Promise<BigIntStats | undefined> => {
  try {
    return await stat(path, { bigint: true })
  } catch {
    return undefined
  }
}

const scannedFile = (path: string, { size, ino, mtimeNs, ctimeNs }: BigIntStats): ScannedFile => ({
  path,
  bytes: Number(size),
  stamp: `${ino}:${size}:${mtimeNs}:${ctimeNs}`,
  changedAt: String(ctimeNs),
})

const words = messageOf
