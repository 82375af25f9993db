// Whatever a client sends, an upstream gets the document's header once, and no cookie of the gateway.

import { expect, it } from '@jest/globals'
import fc from 'fast-check'
import type { IncomingMessage } from 'node:http'
import { prepareRequest } from '../../../../dataplane/actions/forward/request.ts'
import type { Exchange } from '../../../../dataplane/actions/performer.ts'
import { Context } from '../../../../dataplane/context.ts'
import { requestHeaderMap } from '../../../../dataplane/header-map.ts'
import { NO_AUTHORITY } from '../../../../language/routes/authority.ts'
import { dashed } from '../../../../language/unsent-headers.ts'
import { compiledGet } from '../../../language/documents.ts'
import {
  clientLines,
  type Line,
  SETTING_USER,
  VARIABLES,
} from '../../../support/header-readers/client-lines.ts'

const exchangeOf = (lines: readonly Line[]): Exchange => {
  const rawHeaders = ['Host', 'a', ...lines.flat()]
  const context = new Context()
  context.request.peername = '127.0.0.1:1'
  context.request.path = '/'
  context.request.headers = requestHeaderMap(rawHeaders)
  context.request.bindings = { user: 'ada' }
  const incoming = { rawHeaders, method: 'GET', url: '/' } as unknown as IncomingMessage
  return { context, incoming, authority: NO_AUTHORITY } as unknown as Exchange
}

const forwardWith = (headers: string | object) => {
  const action = { type: 'forward', host: 'http://up', headers }
  const paths = { '/:user': { get: { action } } }
  const { action: compiled } = compiledGet({ api: { variables: VARIABLES }, paths })
  if (compiled.type !== 'forward') throw new Error('this is no forward')
  return prepareRequest({
    action: compiled,
    target: () => 'http://up',
    security: [{ type: 'anonymous' }],
    readsBody: false,
    isServedByGet: false,
  })
}

it.each(SETTING_USER)('an upstream gets what the document sets, once: %j', (headers) => {
  const prepare = forwardWith(headers)
  fc.assert(
    fc.property(clientLines, (lines) => {
      const list = prepare(exchangeOf(lines)).headers
      const users = list.filter((_, at) => at % 2 === 1 && dashed(list[at - 1] ?? '') === 'x-user')
      expect(users).toEqual(['ada'])
      expect(list.some((text) => text.includes('svc_'))).toBe(false)
    }),
    { numRuns: 500 },
  )
})
