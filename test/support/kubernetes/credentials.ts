// Writes the keys of a control plane, and kubeconfigs of the users that are named, into a directory. It opens no
// connection.

import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createCertificateAuthority, type MoreNames } from '../certificates.ts'

/** Paths, but for the last three. */
export interface Credentials {
  readonly caFile: string
  readonly certFile: string
  readonly keyFile: string
  readonly serviceAccountKeyFile: string
  readonly tokensFile: string
  readonly ca: string
  /** Of `system:masters`. */
  readonly adminToken: string
  /** Of all users, by name. */
  readonly tokens: ReadonlyMap<string, string>
}

/** Somebody whom the API server knows by a token. */
export interface User {
  readonly name: string
  readonly groups: readonly string[]
}

/** @param more names and addresses of the API server, besides localhost */
export const writeCredentials = async (
  directory: string,
  more: MoreNames,
  users: readonly User[],
): Promise<Credentials> => {
  const authority = createCertificateAuthority('control plane of tests')
  const { cert, key } = authority.issue('localhost', more)
  const admin = { name: 'admin', groups: ['system:masters'] }
  const tokens = new Map([admin, ...users].map((user) => [user, randomBytes(16).toString('hex')]))
  const lines = [...tokens].map(
    ([{ name, groups }, token]) => `${token},${name},${name},"${groups.join(',')}"\n`,
  )
  const write = async (name: string, content: string): Promise<string> => {
    const path = join(directory, name)
    await writeFile(path, content, { mode: 0o600 })
    return path
  }
  return {
    ca: authority.cert,
    tokens: new Map([...tokens].map(([{ name }, token]) => [name, token])),
    adminToken: tokens.get(admin) ?? '',
    caFile: await write('ca.crt', authority.cert),
    certFile: await write('apiserver.crt', cert),
    keyFile: await write('apiserver.key', key),
    serviceAccountKeyFile: await write('service-accounts.key', signingKey()),
    tokensFile: await write('tokens.csv', lines.join('')),
  }
}

/** In the older format: the API server reads the public half from it, too. */
const signingKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ type: 'sec1', format: 'pem' })
    .toString()

export interface KubeconfigContent {
  readonly server: string
  readonly ca: string
  readonly token: string
  readonly namespace?: string
}

/** @param path readable for its owner only, as kubectl asks */
export const writeKubeconfig = async (
  path: string,
  { server, ca, token, namespace = 'default' }: KubeconfigContent,
): Promise<string> => {
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') }
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test', namespace } }],
    clusters: [{ name: 'test', cluster }],
    users: [{ name: 'test', user: { token } }],
  }
  // JSON is YAML.
  await writeFile(path, JSON.stringify(kubeconfig, null, 2), { mode: 0o600 })
  return path
}
