// `GET /status`, `/ping`, `/ready`, `/metrics` of the operator: reads only, on an address of its own.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Address } from '../../telemetry/settings-table.ts'

export interface StatusAnswers {
  readonly status: () => object
  readonly isReady: () => boolean
  readonly metrics: () => Promise<{ readonly contentType: string; readonly text: string }>
}

export interface StatusServer {
  /** `http://127.0.0.1:18085`, or `unix:/path`. */
  readonly url: string
  close(): Promise<void>
}

/** @throws Error with a `code` such as EADDRINUSE */
export const startStatusServer = async (
  address: Address,
  answers: StatusAnswers,
): Promise<StatusServer> => {
  const server = createServer((request, response) => {
    void answer(request, response, answers)
  })
  server.requestTimeout = 10_000
  server.maxConnections = 100
  await listen(server, address)
  return {
    url: urlOf(server, address),
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

const answer = async (
  request: IncomingMessage,
  response: ServerResponse,
  answers: StatusAnswers,
): Promise<void> => {
  response.setHeader('cache-control', 'no-store')
  response.setHeader('x-content-type-options', 'nosniff')
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    response.setHeader('allow', 'GET, HEAD')
    sendError(response, 405, 'svc.error.method_not_allowed', 'only GET is answered here')
    return
  }
  const path = (request.url ?? '/').split('?')[0] ?? '/'
  const answerPath = Object.hasOwn(PATHS, path) ? PATHS[path] : undefined
  if (answerPath === undefined) {
    const paths = Object.keys(PATHS).join(', ')
    sendError(response, 404, 'svc.error.not_found', `there is no ${path}; there are ${paths}`)
    return
  }
  try {
    await answerPath(response, answers)
  } catch {
    sendError(response, 500, 'svc.error.internal', 'the answer could not be made')
  }
}

type AnswerPath = (response: ServerResponse, answers: StatusAnswers) => void | Promise<void>

const PATHS: Readonly<Record<string, AnswerPath>> = {
  '/status': (response, { status }) => {
    sendJson(response, 200, status())
  },
  '/ping': (response) => {
    response.writeHead(204).end()
  },
  '/ready': (response, { isReady }) => {
    if (isReady()) response.writeHead(204).end()
    else sendError(response, 503, 'svc.error.overloaded', 'the resources have not been read yet')
  },
  '/metrics': async (response, { metrics }) => {
    const { contentType, text } = await metrics()
    response.writeHead(200, { 'content-type': contentType }).end(text)
  },
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

const listen = (server: Server, address: Address): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject)
    const listening = (): void => {
      server.off('error', reject)
      resolve()
    }
    if (address.kind === 'unix') server.listen(address.path, listening)
    else server.listen(address.port, address.host, listening)
  })

const urlOf = (server: Server, address: Address): string => {
  if (address.kind === 'unix') return `unix:${address.path}`
  // An IP server that listens has an address of this form.
  const { port } = server.address() as AddressInfo
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  return `http://${host}:${port}`
}
