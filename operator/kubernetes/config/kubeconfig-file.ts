// Loads a kubeconfig with client-node's KubeConfig, which knows the formats, exec programs, OIDC and token files. It is
// imported only when there is a kubeconfig (it costs 60 MB and 0.5 s). Messages of YAML readers and credential programs
// may quote secrets, so none is repeated or kept as a cause.

import { readFile, stat } from 'node:fs/promises'
import type { RequestOptions } from 'node:https'
import { delimiter, dirname, resolve } from 'node:path'

import type { KubeConfig } from '@kubernetes/client-node'

import { withTimeout } from '../../../base/timeout.ts'
import { isMap } from '../../../language/expression/value.ts'
import type { Clock } from '../../../base/clock.ts'
import type { Cluster, ClusterCredentials, ClusterTls } from './cluster.ts'
import { keepCredentials } from './credentials.ts'

/** A credential program may ask a cloud; one that asks a person would wait for ever. */
const PROGRAM_MS = 30_000

interface Loaded {
  readonly config: KubeConfig
  /** Changes with the files. */
  readonly stamp: string
  /** client-node reads the file that `tokenFile` names only once. */
  readonly hasTokenFile: boolean
}

interface KubeconfigOptions {
  readonly clock: Clock
  /** Undefined: the current one of the files. */
  readonly context?: string | undefined
}

/**
 * @param paths of one file or, as in `$KUBECONFIG`, of several
 * @throws Error that names the file and what is wrong with it
 */
export const loadKubeconfigFile = async (
  paths: string,
  { clock, context: wanted }: KubeconfigOptions,
): Promise<Cluster> => {
  const files = paths.split(delimiter).filter((path) => path !== '')
  let loaded = await load(files, wanted)
  const cluster = loaded.config.getCurrentCluster()
  if (cluster === null) throw new Error(`${paths} has no current context, or one without a cluster`)
  const context = loaded.config.getContextObject(loaded.config.getCurrentContext())
  const namespace = context?.namespace ?? ''
  const mustReload = async (isRefused: boolean): Promise<boolean> =>
    // KubeConfig caches the output of a program until it expires; a new instance runs the program again.
    isRefused || loaded.hasTokenFile || (await stampOf(files)) !== loaded.stamp

  return {
    server: cluster.server.replace(/\/+$/, ''),
    namespace: namespace === '' ? 'default' : namespace,
    ...(cluster.proxyUrl !== undefined && { proxyUrl: cluster.proxyUrl }),
    credentials: keepCredentials({
      read: async (isRefused) => {
        if (await mustReload(isRefused)) loaded = await load(files, wanted)
        return askFor(loaded.config, clock)
      },
      clock,
    }),
  }
}

const load = async (files: readonly string[], context?: string): Promise<Loaded> => {
  const stamp = await stampOf(files)
  const { KubeConfig: Config } = await import('@kubernetes/client-node')
  let config: KubeConfig | undefined
  let hasTokenFile = false
  for (const file of files) {
    const text = await readText(file)
    const next = new Config()
    // The reader's own message quotes the file, which holds tokens.
    if (!isParsed(next, text, file)) throw new Error(`${file} can't be read as a kubeconfig`)
    hasTokenFile ||= TOKEN_FILE.test(text)
    if (config === undefined) config = next
    else config.mergeConfig(next, true)
  }
  if (config === undefined) throw new Error('no kubeconfig is given')
  if (context !== undefined) selectContext(config, context, files)
  return { config, stamp, hasTokenFile }
}

const MOST_NAMES = 10

const selectContext = (config: KubeConfig, context: string, files: readonly string[]): void => {
  const names = config.getContexts().map(({ name }) => name)
  if (!names.includes(context)) {
    const known = names.length === 0 ? 'none' : names.slice(0, MOST_NAMES).join(', ')
    throw new Error(`there is no context '${context}' in ${files.join(', ')}; there is ${known}`)
  }
  config.setCurrentContext(context)
}

/** The name that kubectl reads; client-node 2.0.1 looks for `token-file`. */
const TOKEN_FILE = /(^|[\s{,"'])tokenFile(?=["']?\s*:)/m

const isParsed = (config: KubeConfig, text: string, file: string): boolean => {
  try {
    config.loadFromString(text.replaceAll(new RegExp(TOKEN_FILE, 'gm'), '$1token-file'))
    config.makePathsAbsolute(dirname(resolve(file)))
    return true
  } catch {
    return false
  }
}

const readText = async (file: string): Promise<string> => {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new Error(`can't read the kubeconfig ${file}`, { cause: error })
  }
}

const stampOf = async (files: readonly string[]): Promise<string> => {
  const stamps = files.map(async (file) => {
    try {
      const { mtimeMs, ino, size } = await stat(file)
      return `${ino}:${mtimeMs}:${size}`
    } catch {
      return '-'
    }
  })
  return (await Promise.all(stamps)).join(' ')
}

const askFor = async (config: KubeConfig, clock: Clock): Promise<ClusterCredentials> => {
  const options: TlsRequestOptions = {}
  const failure = await failureOf(
    withTimeout(config.applyToHTTPSOptions(options), { ms: PROGRAM_MS, clock, onTimeout }),
  )
  if (failure === undefined) return { headers: headersOf(options), tls: tlsOf(options) }
  throw new Error(`the kubeconfig gives no credentials: ${whyNone(config, failure)}`)
}

interface TlsRequestOptions extends RequestOptions {
  servername?: string
}

const onTimeout = (): never => {
  throw new Error('timeout')
}

const failureOf = async (work: Promise<void>): Promise<{ readonly error: unknown } | undefined> => {
  try {
    await work
    return undefined
  } catch (error) {
    return { error }
  }
}

const whyNone = (config: KubeConfig, { error }: { readonly error: unknown }): string => {
  const exec: unknown = config.getCurrentUser()?.exec
  if (isMap(exec) && typeof exec['command'] === 'string') {
    return `the program "${exec['command']}" failed; run it by hand to see why`
  }
  if (isMap(error) && typeof error['path'] === 'string') return `${error['path']} can't be read`
  const isPlain = config.getCurrentCluster()?.server.startsWith('http:') === true
  if (isPlain) return 'plain HTTP needs insecure-skip-tls-verify: true'
  return 'none of the credentials of its user work'
}

const headersOf = (options: RequestOptions): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(options.headers ?? {})) {
    if (typeof value === 'string') headers[name.toLowerCase()] = value.trim()
  }
  if (typeof options.auth === 'string') {
    headers['authorization'] = `Basic ${Buffer.from(options.auth).toString('base64')}`
  }
  return headers
}

const tlsOf = ({
  ca,
  cert,
  key,
  servername,
  rejectUnauthorized,
}: TlsRequestOptions): ClusterTls => ({
  ...(Buffer.isBuffer(ca) && { ca: ca.toString() }),
  ...textUnder('cert', cert),
  ...textUnder('key', key),
  ...(servername !== undefined && { servername }),
  ...(rejectUnauthorized === false && { rejectUnauthorized }),
})

/** A program gives text; a file or the kubeconfig gives bytes. */
const textUnder = (name: 'cert' | 'key', value: unknown): Pick<ClusterTls, 'cert' | 'key'> =>
  typeof value === 'string' || Buffer.isBuffer(value) ? { [name]: value.toString() } : {}
