// What is never written to a client without Node's own checks.

import { expect, it } from '@jest/globals'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { presetHead } from '../../../../dataplane/http/response/raw-head.ts'

it.each([
  ['of Latin-1', 'x-a: Zo\u00c3\u00ab', true],
  ['beyond it, of which Node would write the low bytes', 'x-a: b\u010d\u010ax-c: d', false],
])('a head of characters %s', (_, line, isPreset) => {
  const request = Object.assign(new IncomingMessage(new Socket()), {
    method: 'GET',
    httpVersionMajor: 1,
    httpVersionMinor: 1,
  })
  const response = Object.assign(new ServerResponse(request), {
    _keepAliveTimeout: 5000,
    _maxRequestsPerSocket: 0,
  })
  expect(presetHead(response, 200, `${line}\r\n`)).toBe(isPreset)
  expect(response.headersSent).toBe(isPreset)
})
