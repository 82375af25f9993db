import { describe, expect, it } from '@jest/globals'
import { endpointsOf } from '../../dataplane/own-listeners.ts'

describe('endpointsOf', () => {
  it.each([
    ['http://127.0.0.1:18080', { address: '127.0.0.1', port: 18080 }],
    ['https://[::1]:18083', { address: '::1', port: 18083 }],
    ['http://0.0.0.0', { address: '0.0.0.0', port: 80 }],
    ['https://gateway.test', { address: 'gateway.test', port: 443 }],
  ])('%s', (url, endpoint) => {
    expect(endpointsOf([url])).toEqual([endpoint])
  })

  it('passes over what no upstream can reach', () => {
    expect(endpointsOf(['unix:/run/gateway.sock', 'nonsense', ''])).toEqual([])
  })
})
