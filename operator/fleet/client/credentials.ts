// Reads the token and the TLS material from files, by which the operator and data planes authenticate each other, again
// when they change. Never logs what it reads.

import { readFile, stat } from 'node:fs/promises'
import { messageOf } from '../../../base/thrown.ts'

export interface CredentialFiles {
  readonly tokenFile?: string
  readonly caFile?: string
  readonly certFile?: string
  readonly keyFile?: string
  /** Name that the certificate of a data plane must carry; its host name when absent. */
  readonly serverName?: string
}

export interface Credentials {
  readonly token?: string
  readonly tls: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly servername?: string
  }
}

/**
 * The same object is given while no file has changed.
 * @throws Error naming the file that can't be read
 */
export const createCredentialReader = (files: CredentialFiles): (() => Promise<Credentials>) => {
  let known: { readonly stamp: string; readonly credentials: Credentials } | undefined
  const all = [files.tokenFile, files.caFile, files.certFile, files.keyFile]
  const paths = all.filter((path) => path !== undefined)
  return async () => {
    const stamp = paths.length === 0 ? '' : (await Promise.all(paths.map(stampOf))).join(' ')
    if (known?.stamp === stamp) return known.credentials
    const credentials = await readAll(files)
    known = { stamp, credentials }
    return credentials
  }
}

const stampOf = async (path: string): Promise<string> => {
  try {
    const { mtimeMs, ino, size } = await stat(path)
    return `${ino}:${mtimeMs}:${size}`
  } catch (error) {
    throw unreadable(path, error)
  }
}

const readAll = async (files: CredentialFiles): Promise<Credentials> => {
  const [token, ca, cert, key] = await Promise.all([
    read(files.tokenFile),
    read(files.caFile),
    read(files.certFile),
    read(files.keyFile),
  ])
  return {
    ...(token !== undefined && { token: token.trim() }),
    tls: {
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      ...(files.serverName !== undefined && { servername: files.serverName }),
    },
  }
}

const read = async (path: string | undefined): Promise<string | undefined> => {
  if (path === undefined) return undefined
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    throw unreadable(path, error)
  }
}

const unreadable = (path: string, cause: unknown): Error => {
  const words = messageOf(cause)
  return new Error(`can't read the credential file ${path}: ${words}`, { cause })
}
