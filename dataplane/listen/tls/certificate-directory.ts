// Watches a directory with a folder for each certificate, and passes on the usable certificates whenever something
// changes. A folder that is broken, or only half renewed, changes nothing but the log.

import { opendir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createSecureContext } from 'node:tls'
import type { Log } from '../../../telemetry/log.ts'
import { withTlsFloor } from '../http-server.ts'
import { messageOf } from '../../../base/thrown.ts'
import { endOfCertificate, namesOfCertificate, type TlsHost } from './certificate-for-host.ts'
import type { FileWatch } from '../../watched-files.ts'

export interface TlsDirectoryOptions {
  readonly directory: string
  readonly log: Log
  /** Sorted by folder. Never called with none: the last ones stay in use. */
  readonly onHosts: (hosts: readonly TlsHost[]) => void
  /** How often it is read; if left out, 2000. */
  readonly intervalMs?: number
}

/**
 * Reads the directory once before it resolves, then repeatedly; never keeps the process alive by itself. Polls for the
 * same reason as `watchFiles`: a mounted Secret is replaced by swapping a symlink.
 */
export const watchTlsDirectory = async (options: TlsDirectoryOptions): Promise<FileWatch> => {
  let isClosed = false
  const look = createLook({
    ...options,
    onHosts: (hosts) => {
      if (!isClosed) options.onHosts(hosts)
    },
  })
  let timer: NodeJS.Timeout | undefined
  const again = (): void => {
    if (isClosed) return
    timer = setTimeout(() => void look().then(again), options.intervalMs ?? 2000).unref()
  }
  await look()
  again()
  return {
    close: () => {
      isClosed = true
      clearTimeout(timer)
    },
  }
}

/** What is known of a folder. */
interface Folder {
  /** The files as read last, whether usable or not. */
  readonly pair: Pair | undefined
  /** The last usable certificate. */
  readonly host: TlsHost | undefined
  /** Why `host` is not that of `pair`; logged once. */
  readonly error: string | undefined
}

interface Pair {
  readonly cert: Buffer
  readonly key: Buffer
}

/** Bounds for what is read every two seconds: a chain of certificates is some KiB. */
const MAX_ENTRIES = 10_000
const MAX_FOLDERS = 1000
const MAX_FILE_BYTES = 256 * 1024
const MAX_BYTES = 16 * 1024 * 1024

/** Never rejects. */
const createLook = ({ directory, log, onHosts }: TlsDirectoryOptions): (() => Promise<void>) => {
  let folders: ReadonlyMap<string, Folder> = new Map()
  let served: readonly TlsHost[] = []
  let reported: string | undefined

  const complain = (message: string): void => {
    if (message !== reported) {
      log.error('cannot use the directory of TLS certificates', { directory, message })
    }
    reported = message
  }

  const lookOnce = async (): Promise<void> => {
    const names = await listFolders(directory)
    const read = await readFolders(directory, names.slice(0, MAX_FOLDERS), folders)
    for (const [name, folder] of read) logChange(log, name, folders.get(name), folder)
    folders = read
    const hosts = [...read.values()].flatMap(({ host }) => host ?? [])
    if (names.length > read.size) complain(leftOut(names, read.size))
    else if (hosts.length === 0) complain('no folder has a usable tls.crt and tls.key')
    else reported = undefined
    if (hosts.length === 0 || isSame(hosts, served)) return
    served = hosts
    onHosts(hosts)
  }

  return () =>
    lookOnce().catch((error: unknown) => {
      complain(messageOf(error))
    })
}

/** Names with a dot in front are the kubelet's own: `..data` and what it points to. */
const listFolders = async (directory: string): Promise<readonly string[]> => {
  const names: string[] = []
  let count = 0
  for await (const entry of await opendir(directory)) {
    count += 1
    if (count > MAX_ENTRIES)
      throw new Error(`more than ${MAX_ENTRIES} entries: the directory is not read`)
    if (!entry.name.startsWith('.') && !entry.isFile()) names.push(entry.name)
  }
  return names.sort()
}

const leftOut = (names: readonly string[], read: number): string => {
  const bound =
    read < MAX_FOLDERS
      ? `more than ${MAX_BYTES} bytes together`
      : `more than ${MAX_FOLDERS} folders`
  return `${bound}: the folders from '${names[read] ?? ''}' on are ignored`
}

const readFolders = async (
  directory: string,
  names: readonly string[],
  before: ReadonlyMap<string, Folder>,
): Promise<ReadonlyMap<string, Folder>> => {
  const folders = new Map<string, Folder>()
  let bytes = 0
  // One after the other: the threads that read files also resolve names and hash passwords.
  for (const name of names) {
    const folder = await readFolder(join(directory, name), name, before.get(name))
    bytes += (folder.pair?.cert.length ?? 0) + (folder.pair?.key.length ?? 0)
    if (bytes > MAX_BYTES) break
    folders.set(name, folder)
  }
  return folders
}

const readFolder = async (
  path: string,
  name: string,
  before: Folder | undefined,
): Promise<Folder> => {
  const host = before?.host
  let pair: Pair
  try {
    pair = {
      cert: await readPem(join(path, 'tls.crt')),
      key: await readPem(join(path, 'tls.key')),
    }
  } catch (error) {
    return { pair: undefined, host, error: messageOf(error) }
  }
  if (before?.pair !== undefined && isSamePair(before.pair, pair)) return before
  try {
    return { pair, host: createHost(name, pair), error: undefined }
  } catch (error) {
    return { pair, host, error: messageOf(error) }
  }
}

/** @throws Error that names the file: it cannot be read, is not a regular file, or is too large */
const readPem = async (path: string): Promise<Buffer> => {
  const facts = await stat(path)
  // Reading a pipe would never end.
  if (!facts.isFile()) throw new Error(`${path} is not a regular file`)
  if (facts.size > MAX_FILE_BYTES) throw new Error(`${path} is larger than ${MAX_FILE_BYTES} bytes`)
  return readFile(path)
}

/** @throws Error of OpenSSL when one cannot be read, or they do not belong together */
const createHost = (folder: string, pair: Pair): TlsHost => ({
  folder,
  names: namesOfCertificate(pair.cert),
  endsMs: endOfCertificate(pair.cert),
  ...pair,
  context: createSecureContext(withTlsFloor(pair)),
})

const logChange = (log: Log, folder: string, before: Folder | undefined, now: Folder): void => {
  if (now.error !== undefined && (now.error !== before?.error || now.pair !== before.pair)) {
    const message =
      now.host === undefined
        ? 'cannot use a TLS certificate yet'
        : 'cannot use a new TLS certificate; the previous one stays in use'
    log.error(message, { folder, message: now.error })
  } else if (now.host !== before?.host) {
    log.info('TLS certificate in use', { folder, names: now.host?.names })
  }
}

const isSamePair = (a: Pair, b: Pair): boolean => a.cert.equals(b.cert) && a.key.equals(b.key)

const isSame = (a: readonly TlsHost[], b: readonly TlsHost[]): boolean =>
  a.length === b.length && a.every((host, index) => host === b[index])
