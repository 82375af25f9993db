// Serves a table of read-only pages over HTTP: to probes, or to people on this machine, who get the web page too. No
// page of another origin is answered there.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { http } from '../../base/node-http.ts'
import { boundAddress, isLocal, urlOf } from '../../telemetry/bound-address.ts'
import { untilAnswerable } from '../../telemetry/delayed-response.ts'
import type { Address } from '../../telemetry/settings-table.ts'
import {
  allowLocal,
  allowLocalHost,
  allowPageFiles,
  type Authorize,
  refuseWebPages,
} from '../../web/browser-access.ts'
import { findPageFile, sendPageFile } from '../../web/page-files.ts'
import { listen } from '../listen.ts'
import { PAGE_NOT_FOUND, type Page, type Pages, READINESS_PATHS } from './page.ts'

export interface StatusServer {
  /** Serves these pages from now on; requests that wait are answered first. */
  serve(pages: Pages): void
  /** `http://127.0.0.1:18085`, or `unix:/path`. */
  readonly url: string
  close(): Promise<void>
}

/** Whom the server is for. */
export type Audience =
  /** The kubelet and Prometheus, which get nothing confidential. */
  | 'probes'
  /** A person on this machine and their browser, and programs. */
  | 'people'

/**
 * @param pages undefined: requests wait until there are some
 * @throws Error with a `code` such as EADDRINUSE
 */
export const startStatusServer = async (
  address: Address,
  audience: Audience,
  pages?: Pages,
): Promise<StatusServer> => {
  const { promise: first, resolve: serveFirst } = Promise.withResolvers<Pages>()
  let current: Pages | Promise<Pages> = pages ?? first
  const access = accessFor(audience, address)
  const server = http.createServer((request, response) => {
    void answer(request, response, { served: current, access })
  })
  server.requestTimeout = 10_000
  server.maxConnections = 100
  await listen(server, address)
  return {
    url: urlOf('http', boundAddress(server, address)),
    serve: (next) => {
      current = next
      serveFirst(next)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => {
        server.close(() => {
          resolve()
        })
      })
    },
  }
}

interface Access {
  readonly data: readonly Authorize[]
  /** Who may read the files of the web page; undefined: it is not served. */
  readonly page: readonly Authorize[] | undefined
}

/** Where others can connect there is no web page, as pages of other origins could read the same data. */
const accessFor = (audience: Audience, address: Address): Access => {
  if (audience === 'probes') return { data: [], page: undefined }
  return isLocal(address)
    ? { data: [refuseWebPages, allowLocal], page: [allowPageFiles, allowLocalHost] }
    : { data: [refuseWebPages], page: undefined }
}

interface Serving {
  readonly served: Pages | Promise<Pages>
  readonly access: Access
}

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  { served, access }: Serving,
): Promise<void> => {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  response.setHeader('cross-origin-resource-policy', 'same-origin')
  if (sendPage(request, response, access.page)) return
  if (isRejected(request, response, access.data)) return
  const pages = await served
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    sendError(response, 405, 'svc.error.method_not_allowed', 'only GET is answered here')
    return
  }
  const { url = '/' } = request
  const [path = '/', ...query] = url.split('?')
  try {
    if (READINESS_PATHS.has(path))
      await untilAnswerable({
        url,
        isPending: async () => isErrorPage(await answerPath(pages, path, query.join('?'))),
        isGone: () => response.destroyed,
      })
    const page = await answerPath(pages, path, query.join('?'))
    if (page === PAGE_NOT_FOUND) {
      const paths = Object.keys(pages).join(', ')
      sendError(response, 404, 'svc.error.not_found', `there is no ${path}; there are ${paths}`)
    } else send(response, page)
  } catch {
    sendError(response, 500, 'svc.error.internal', 'the response could not be created')
  }
}

/** @returns true: the request was for a file of the web page, and is answered */
const sendPage = (
  request: IncomingMessage,
  response: ServerResponse,
  access: readonly Authorize[] | undefined,
): boolean => {
  const { method, url = '/' } = request
  if (access === undefined || (method !== 'GET' && method !== 'HEAD')) return false
  const file = findPageFile(url.split('?', 1)[0] ?? '/')
  if (file === undefined) return false
  if (!isRejected(request, response, access)) sendPageFile(response, file, method)
  return true
}

/** @returns true: the rejection was sent */
const isRejected = (
  request: IncomingMessage,
  response: ServerResponse,
  steps: readonly Authorize[],
): boolean => {
  for (const step of steps) {
    const rejection = step(request)
    if (rejection === true) continue
    const code = rejection.status === 404 ? 'svc.error.not_found' : 'svc.error.forbidden'
    sendError(response, rejection.status, code, rejection.message ?? '')
    return true
  }
  return false
}

/** `:name` stands for one segment of a path. */
const answerPath = async (
  pages: Pages,
  path: string,
  query: string,
): Promise<Page | typeof PAGE_NOT_FOUND> => {
  const segments = path.split('/')
  for (const [pattern, page] of Object.entries(pages)) {
    const values = match(pattern.split('/'), segments)
    if (values !== undefined) return page(...values, query)
  }
  return PAGE_NOT_FOUND
}

const isErrorPage = (page: Page | typeof PAGE_NOT_FOUND): boolean =>
  page !== PAGE_NOT_FOUND && 'error' in page

const match = (
  pattern: readonly string[],
  segments: readonly string[],
): readonly string[] | undefined => {
  if (pattern.length !== segments.length) return undefined
  const values: string[] = []
  for (const [i, expected] of pattern.entries()) {
    const segment = segments[i] ?? ''
    if (expected.startsWith(':')) values.push(decodeURIComponent(segment))
    else if (expected !== segment) return undefined
  }
  return values
}

const send = (response: ServerResponse, page: Page): void => {
  if ('json' in page) sendJson(response, page.status ?? 200, page.json)
  else if ('text' in page)
    response.writeHead(200, { 'content-type': page.contentType }).end(page.text)
  else if ('error' in page) sendError(response, 503, 'svc.error.overloaded', page.error)
  else response.writeHead(204).end()
}

const sendJson = (response: ServerResponse, status: number, body: object): void => {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
  response.end(`${JSON.stringify(body)}\n`)
}

const sendError = (
  response: ServerResponse,
  status: number,
  code: string,
  message: string,
): void => {
  sendJson(response, status, { code, message, description: '' })
}
