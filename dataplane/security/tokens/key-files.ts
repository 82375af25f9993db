// Stores rings of keys: files of the state directory, which are created if they are not there, and a file that is
// managed elsewhere, which is read again when it changes. No message ever shows the content of a file.

import { constants, mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '../../start-error.ts'
import { type FileWatch, watchFiles } from '../../watched-files.ts'
import { createKeyRing, type KeyRing, parseKeyRing } from '../../../language/realm/key-ring.ts'
import { messageOf } from '../../../base/thrown.ts'

/** `signing`: the keys of realms without keys of their own. `oidc-state`: the keys that encrypt logins in progress. */
export type KeyPurpose = 'signing' | 'oidc-state'

/**
 * Loads the ring in `keys/<purpose>.json` of the state directory, and creates it (0600, in a directory 0700) if there
 * is none. A state directory belongs to one gateway, so no other process creates the same file meanwhile.
 * @throws StartError for a file that is there and cannot be read: replacing it with a new ring would end every session
 * @example const master = await loadKeyRing('/var/lib/svc', 'signing', randomBytes)
 */
export const loadKeyRing = async (
  stateDirectory: string,
  purpose: KeyPurpose,
  random: (size: number) => Buffer,
): Promise<KeyRing> => {
  const path = pathOf(stateDirectory, purpose)
  const text = await readIfThere(path)
  if (text !== undefined) return readRing(path, text)
  const ring = createKeyRing(random)
  try {
    await writeDurably(path, `${JSON.stringify(ring, undefined, 2)}\n`)
  } catch (error) {
    throw new StartError(`cannot write the key file ${path}: ${messageOf(error)}`, error)
  }
  return ring
}

/** Whether `loadKeyRing` would not create it. @throws StartError for a file that cannot be read */
export const hasKeyRing = async (stateDirectory: string, purpose: KeyPurpose): Promise<boolean> =>
  (await readIfThere(pathOf(stateDirectory, purpose))) !== undefined

const pathOf = (stateDirectory: string, purpose: KeyPurpose): string =>
  join(stateDirectory, 'keys', `${purpose}.json`)

export interface KeyRingWatch {
  readonly path: string
  /** Called immediately if the file is valid, then after each change to another valid one. */
  readonly onRing: (ring: KeyRing) => void
  /** Called if the file is missing or invalid: the last valid ring stays in use. */
  readonly onFailure: (error: Error) => void
  readonly intervalMs?: number
}

/**
 * `--oidc-state-keys-file`.
 * @throws StartError if there is no valid ring at the start
 */
export const watchKeyRing = ({ path, onRing, onFailure, intervalMs }: KeyRingWatch): FileWatch => {
  let isServed = false
  let first: Error | undefined
  const watch = watchFiles({
    paths: [path],
    onContents: ([bytes]) => {
      const ring = readRing(path, bytes?.toString('utf8') ?? '')
      isServed = true
      onRing(ring)
    },
    onFailure: (error) => {
      if (isServed) onFailure(error)
      else first = error
    },
    ...(intervalMs === undefined ? {} : { intervalMs }),
  })
  if (first === undefined) return watch
  watch.close()
  throw first instanceof StartError
    ? first
    : new StartError(`cannot read the key file ${path}: ${first.message}`, first)
}

const readRing = (path: string, text: string): KeyRing => {
  try {
    return parseKeyRing(text)
  } catch (error) {
    throw new StartError(`the key file ${path} is not valid: ${messageOf(error)}`, error)
  }
}

const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    // Without blocking: a pipe of that name without a writer would block the start for ever.
    const flag = constants.O_RDONLY | constants.O_NONBLOCK
    return await readFile(path, { encoding: 'utf8', flag })
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT')
      return undefined
    throw new StartError(`cannot read the key file ${path}: ${messageOf(error)}`, error)
  }
}

/** Writes the whole file under its name, or none. */
const writeDurably = async (path: string, text: string): Promise<void> => {
  const directory = dirname(path)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const temporary = `${path}.tmp`
  const file = await open(temporary, 'w', 0o600)
  try {
    await file.chmod(0o600)
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
  await rename(temporary, path)
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
