import { expect, it } from '@jest/globals'
import { describeWampError } from '../../../../dataplane/actions/wamp/error-text.ts'
import { STATUS_CODES } from '../../../../language/compile/status-codes.ts'

const OF_ROUTERS = Object.keys(STATUS_CODES).filter((uri) => uri.startsWith('wamp.error.'))

it.each(OF_ROUTERS)('%s has a sentence', (uri) => {
  expect(describeWampError(uri, '')).toMatch(/^[A-Z][^:]+\.$/)
  expect(describeWampError(uri, 'com.acme.add')).toMatch(/^[A-Z][^:]+: com\.acme\.add$/)
})

it.each(['com.acme.error.sold_out', 'constructor', '__proto__'])('%s speaks for itself', (uri) => {
  expect(describeWampError(uri, 'com.acme.add')).toBe(uri)
})
