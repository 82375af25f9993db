// The directory of examples and where things listen in; a directory whose manifests name those addresses
// out: the same one where the usual ports are used, else a copy that is removed afterwards.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { USUAL_PORTS } from './ports.ts'

export interface ExampleDirectory {
  readonly path: string
  readonly isCopy: boolean
  /** Removes the copy; leaves the original alone. */
  readonly remove: () => Promise<void>
}

export interface Addresses {
  /** `127.0.0.1:18080` */
  readonly public: string
  readonly backend: string
}

export const placeExamples = async (
  original: string,
  addresses: Addresses,
): Promise<ExampleDirectory> => {
  const usual = { public: loopback(USUAL_PORTS.public), backend: loopback(USUAL_PORTS.backend) }
  if (addresses.public === usual.public && addresses.backend === usual.backend) {
    return { path: original, isCopy: false, remove: () => Promise.resolve() }
  }
  const path = await mkdtemp(join(tmpdir(), 'svc-playground-'))
  for (const name of (await readdir(original)).filter((each) => each.endsWith('.yaml'))) {
    const text = await readFile(join(original, name), 'utf8')
    const moved = text
      .replaceAll(usual.public, addresses.public)
      .replaceAll(usual.backend, addresses.backend)
    await writeFile(join(path, name), moved)
  }
  return { path, isCopy: true, remove: () => rm(path, { recursive: true, force: true }) }
}

const loopback = (port: number): string => `127.0.0.1:${port}`
