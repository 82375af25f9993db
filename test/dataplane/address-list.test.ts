import { expect, it } from '@jest/globals'
import { createAddressList } from '../../dataplane/address-list.ts'

const list = createAddressList(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32', '::1'])

it.each([
  ['10.255.0.1', true],
  ['::ffff:10.1.2.3', true],
  ['192.0.2.7', true],
  ['2001:db8:ffff::1', true],
  ['::1', true],
  ['11.0.0.1', false],
  ['192.0.2.8', false],
  ['2001:db9::1', false],
  ['::2', false],
  ['', false],
  ['10.0.0', false],
  ['unknown', false],
])('%s is in the list: %p', (address, isThere) => {
  expect(list.has(address)).toBe(isThere)
})

it('holds nothing where there is nothing', () => {
  expect(createAddressList([]).has('127.0.0.1')).toBe(false)
})
