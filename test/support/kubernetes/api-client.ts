// Sends a request to the API server as an administrator, and returns the response, whatever its status. It repeats
// nothing.

import { Agent, request as httpsRequest } from 'node:https'

export interface ApiRequest {
  /** GET otherwise. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With its query: `/api/v1/pods?limit=1`. */
  readonly path: string
  readonly body?: unknown
  /** `application/merge-patch+json` for PATCH, `application/json` for all others. */
  readonly contentType?: string
}

export interface ApiResponse {
  readonly status: number
  readonly text: string
  /** `text` as JSON. @throws where it is none */
  readonly json: () => unknown
}

export interface ApiClient extends Disposable {
  /** @throws when there is no response within 30 s */
  send(request: ApiRequest): Promise<ApiResponse>
}

const RESPONSE_MS = 30_000

export const createApiClient = (server: string, ca: string, token: string): ApiClient => {
  const agent = new Agent({ keepAlive: true, ca })
  const send = ({ method = 'GET', path, body, contentType }: ApiRequest): Promise<ApiResponse> => {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const headers = { authorization: `Bearer ${token}`, 'content-type': contentType ?? type }
    const signal = AbortSignal.timeout(RESPONSE_MS)
    return new Promise((resolve, reject) => {
      const request = httpsRequest(`${server}${path}`, { method, headers, agent, signal })
      request.once('error', reject)
      request.once('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
        })
        response.once('error', reject)
        response.once('end', () => {
          resolve({ status: response.statusCode ?? 0, text, json: (): unknown => JSON.parse(text) })
        })
      })
      request.end(body === undefined ? undefined : JSON.stringify(body))
    })
  }
  return {
    send,
    [Symbol.dispose]: () => {
      agent.destroy()
    },
  }
}

/** @throws unless the response is one of `expected`, or any 2xx. */
export const demand = (response: ApiResponse, ...expected: readonly number[]): ApiResponse => {
  const { status, text } = response
  if (Math.floor(status / 100) === 2 || expected.includes(status)) return response
  throw new Error(`the API server answered ${status}: ${text}`)
}
