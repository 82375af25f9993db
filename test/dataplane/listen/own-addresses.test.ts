import { describe, expect, it } from '@jest/globals'
import { parseAddress } from '../../../telemetry/settings-value.ts'
import { endpointsOf, endpointsOfSettings } from '../../../dataplane/listen/own-addresses.ts'

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

it('endpointsOfSettings tells where listeners will open', () => {
  const at = (text: string) => parseAddress(text) ?? { kind: 'unix' as const, path: '/' }
  expect(endpointsOfSettings({ publicTls: at(':18443'), management: at('[::1]:1') })).toEqual([
    { address: '::', port: 18443 },
    { address: '::1', port: 1 },
  ])
  expect(endpointsOfSettings({ publicTls: null, management: at('unix:/a') })).toEqual([])
})
