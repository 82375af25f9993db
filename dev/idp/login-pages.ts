// Serves the login pages of the provider: requests under /interaction/ are handled here, all others are left to the
// library.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Provider } from 'oidc-provider'
import { messageOf } from '../../base/thrown.ts'
import type { IdpUser } from './accounts.ts'
import { INTERACTION_PATH } from './configuration.ts'
import { errorPage, loginPage } from './pages.ts'

/** @returns whether the request was one of these */
export type LoginPages = (request: IncomingMessage, response: ServerResponse) => boolean

const MAX_FORM_BYTES = 4096

export const createLoginPages =
  (provider: Provider, users: readonly IdpUser[]): LoginPages =>
  (request, response) => {
    if (!(request.url ?? '').startsWith(INTERACTION_PATH)) return false
    const visit = { provider, users, request, response }
    const done = request.method === 'POST' ? logIn(visit) : showLogin(visit, false)
    done.catch((error: unknown) => {
      const reason = messageOf(error)
      if (response.headersSent) response.destroy()
      else sendPage(response, 400, errorPage('this login cannot continue', reason))
    })
    return true
  }

interface Visit {
  readonly provider: Provider
  readonly users: readonly IdpUser[]
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

const showLogin = async (visit: Visit, isUnknown: boolean): Promise<void> => {
  const { provider, users, request, response } = visit
  const { params } = await provider.interactionDetails(request, response)
  const hint = typeof params['login_hint'] === 'string' ? params['login_hint'] : ''
  sendPage(response, 200, loginPage(users, { hint, isUnknown }))
}

const logIn = async (visit: Visit): Promise<void> => {
  const { provider, users, request, response } = visit
  const name = new URLSearchParams(await readForm(request)).get('login')
  const user = users.find(({ username }) => username === name)
  if (user === undefined) return showLogin(visit, true)
  const result = { login: { accountId: user.sub } }
  await provider.interactionFinished(request, response, result, {
    mergeWithLastSubmission: false,
  })
}

const readForm = async (request: IncomingMessage): Promise<string> => {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) {
    text += String(chunk)
    if (text.length > MAX_FORM_BYTES) throw new Error('the form is too large')
  }
  return text
}

const sendPage = (response: ServerResponse, status: number, html: string): void => {
  response
    .writeHead(status, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      // Prevents login within a frame of another page (RFC 9700 §4.16).
      'content-security-policy': "frame-ancestors 'none'",
    })
    .end(html)
}
