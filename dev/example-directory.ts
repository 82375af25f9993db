// Prepares the directory of examples so that its manifests name the ports in use: the directory itself for the usual
// ports, else a copy that is removed afterwards.

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

/** Ports of loopback that manifests name. */
export interface NamedPorts {
  readonly public: number
  readonly backend: number
  readonly router: number
  readonly idp: number
}

export const placeExamples = async (
  original: string,
  ports: NamedPorts,
): Promise<ExampleDirectory> => {
  const moves = new Map(NAMED.map((name) => [String(USUAL_PORTS[name]), String(ports[name])]))
  if (NAMED.every((name) => ports[name] === USUAL_PORTS[name])) {
    return { path: original, isCopy: false, remove: () => Promise.resolve() }
  }
  const path = await mkdtemp(join(tmpdir(), 'svc-playground-'))
  for (const name of (await readdir(original)).filter((each) => each.endsWith('.yaml'))) {
    const text = await readFile(join(original, name), 'utf8')
    await writeFile(join(path, name), moved(text, moves))
  }
  return { path, isCopy: true, remove: () => rm(path, { recursive: true, force: true }) }
}

const NAMED = [
  'public',
  'backend',
  'router',
  'idp',
] as const satisfies readonly (keyof NamedPorts)[]

const moved = (text: string, moves: ReadonlyMap<string, string>): string =>
  text.replaceAll(
    /(127\.0\.0\.1|localhost):(\d+)/g,
    (_whole, host: string, port: string) => `${host}:${moves.get(port) ?? port}`,
  )
