// Where rings of keys are kept: files of the state directory, made when they are not there, and a file that
// somebody else keeps, read again when it changes. No message ever shows what stands in a file.

import { constants, mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StartError } from '../../start-error.ts'
import { type FileWatch, watchFiles } from '../../watched-files.ts'
import { createKeyRing, type KeyRing, parseKeyRing } from '../../../language/realm/key-ring.ts'
import { messageOf } from '../../../base/thrown.ts'

/** `signing`: what realms without keys of their own sign with. `oidc-state`: what logins in progress are sealed with. */
export type KeyPurpose = 'signing' | 'oidc-state'

/**
 * The ring in `keys/<purpose>.json` of the state directory; made (0600, in a directory 0700) where there is none.
 * One gateway has a state directory for itself: nobody else makes the same file meanwhile.
 * @throws StartError for a file that is there and can't be read: a new ring in its place would end every session
 * @example const master = await loadKeyRing('/var/lib/svc', 'signing', randomBytes)
 */
export const loadKeyRing = async (
  stateDirectory: string,
  purpose: KeyPurpose,
  random: (size: number) => Buffer,
): Promise<KeyRing> => {
  const path = join(stateDirectory, 'keys', `${purpose}.json`)
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

export interface KeyRingWatch {
  readonly path: string
  /** At once if the file is good, then after each change to another good one. */
  readonly onRing: (ring: KeyRing) => void
  /** Missing or broken: the last good ring stays in use. */
  readonly onFailure: (error: Error) => void
  readonly intervalMs?: number
}

/**
 * `--oidc-state-keys-file`.
 * @throws StartError where there is no good ring to start with
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
    throw new StartError(`the key file ${path} is broken: ${messageOf(error)}`, error)
  }
}

const readIfThere = async (path: string): Promise<string | undefined> => {
  try {
    // Without waiting: a pipe of that name, which nobody writes to, would hold up the start for ever.
    const flag = constants.O_RDONLY | constants.O_NONBLOCK
    return await readFile(path, { encoding: 'utf8', flag })
  } catch (error) {
    if (typeof error === 'object' && error !== null && 'code' in error && error.code === 'ENOENT')
      return undefined
    throw new StartError(`cannot read the key file ${path}: ${messageOf(error)}`, error)
  }
}

/** Whole under its name, or not there at all. */
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
