// Loads the cluster from the service account of the pod we run in. The kubelet replaces the token before it expires and
// the CA when it is rotated, so both files are read again. client-node is not loaded for this: it would cost every
// operator pod 60 MB.

import { parseJson } from '../../../base/parse-json.ts'
import { readFile } from 'node:fs/promises'
import { isIPv6 } from 'node:net'
import { join } from 'node:path'

import { messageOf } from '../../../base/thrown.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Cluster, ClusterCredentials } from './cluster.ts'
import { keepCredentials } from './credentials.ts'

export interface PodOptions {
  readonly host: string
  readonly port: string
  /** Holds `token`, `ca.crt` and `namespace`. */
  readonly directory: string
  readonly clock: Clock
}

/** @throws Error where the files can't be read */
export const loadPodCluster = async (options: PodOptions): Promise<Cluster> => {
  const { host, port, directory, clock } = options
  const namespace = (await readAccountFile(directory, 'namespace')).trim()
  const credentials = keepCredentials({ read: () => readCredentials(directory), clock })
  await credentials()
  const serviceAccount = nameIn(await readAccountFile(directory, 'token'))
  return {
    server: `https://${isIPv6(host) ? `[${host}]` : host}:${port}`,
    namespace: namespace === '' ? 'default' : namespace,
    ...(serviceAccount !== undefined && { serviceAccount }),
    credentials,
  }
}

/** Reads the name from a token with the `sub` `system:serviceaccount:NAMESPACE:NAME`, unverified. */
const nameIn = (token: string): string | undefined => {
  try {
    const claims = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()
    const { sub } = parseJson(claims) as { readonly sub?: unknown }
    return typeof sub === 'string' ? sub.split(':')[3] : undefined
  } catch {
    return undefined
  }
}

const readCredentials = async (directory: string): Promise<ClusterCredentials> => {
  const [token, ca] = await Promise.all([
    readAccountFile(directory, 'token'),
    readAccountFile(directory, 'ca.crt'),
  ])
  return { headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } }
}

const readAccountFile = async (directory: string, name: string): Promise<string> => {
  const path = join(directory, name)
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    const words = messageOf(error)
    throw new Error(
      `can't read ${path}: ${words}; does the pod set automountServiceAccountToken: false?`,
      { cause: error },
    )
  }
}
