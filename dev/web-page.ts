// Serves the web page of the playground: that of its operator, with links to the examples. What the page reads comes
// from the operator.

import type { Page, Pages } from '../operator/status/page.ts'
import { type StatusServer, startStatusServer } from '../operator/status/status-server.ts'
import { readExamples } from './read-examples.ts'

export interface WebPageOptions {
  /** 0 for any free one. */
  readonly port: number
  /** URL of `/status` of the operator, without the path. */
  readonly status: string
  /** Directory of the manifests. */
  readonly manifests: string
}

/** @throws the error of `listen`, such as EADDRINUSE */
export const startWebPage = ({ port, status, manifests }: WebPageOptions): Promise<StatusServer> =>
  startStatusServer({ kind: 'tcp', host: '127.0.0.1', port }, 'people', {
    ...Object.fromEntries(PASSED_ON.map((path) => [path, passOn(status, path)])),
    '/overview': async (query = '') => {
      const page = await passOn(status, '/overview')(query)
      return 'json' in page ? { ...page, json: { ...page.json, examples: true } } : page
    },
    '/examples': async () => ({ json: { examples: await readExamples(manifests) } }),
  } satisfies Pages)

/** Paths of the operator that the page reads; the last segment may stand for a value. */
const PASSED_ON = [
  '/overview/documents',
  '/overview/document',
  '/overview/gateways',
  '/overview/gateway',
  '/overview/realms',
  '/routes',
  '/explain',
  '/why',
  '/why/:id',
] as const

const TIMEOUT_MS = 30_000

const passOn =
  (status: string, path: string) =>
  async (...values: readonly string[]): Promise<Page> => {
    const [query = ''] = values.slice(-1)
    const [id = ''] = values
    const url = `${status}${path.replace(':id', encodeURIComponent(id))}?${query}`
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
    // The operator is of this checkout, so the form of its response is known.
    return { status: response.status, json: (await response.json()) as object }
  }
