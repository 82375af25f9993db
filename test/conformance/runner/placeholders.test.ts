// What the placeholders of a file stand for.

import { scryptSync } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { CaseError, placeholdersFor } from './placeholders.ts'

const addresses = {
  upstreams: ['127.0.0.1:1', '127.0.0.1:2'],
  refused: '127.0.0.1:3',
  publicPort: 4,
} as const

describe('fill', () => {
  it.each([
    ['@ID@', 'my-cases'],
    ['a.@HOST@:@PUBLIC_PORT@', 'a.my-cases.test:4'],
    ['@REALM@.sub', 'com.conformance.my_cases.sub'],
    ['@UPSTREAM@/x @UPSTREAM2_AUTHORITY@', 'http://127.0.0.1:1/x 127.0.0.1:2'],
    ['@@UPSTREAM2_AUTHORITY@/', '@127.0.0.1:2/'],
    ['@REFUSED@ @REFUSED_AUTHORITY@', 'http://127.0.0.1:3 127.0.0.1:3'],
    ['@sha256:abc@', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['a@b.c @any {{@}}', 'a@b.c @any {{@}}'],
  ])('%s', (text, filled) => {
    expect(placeholdersFor('My cases', addresses).fill(text)).toBe(filled)
  })

  it('fills keys and values on every level, and leaves the rest', () => {
    const { fill } = placeholdersFor('x', addresses)
    expect(fill({ '@ID@': [1, null, { a: '@HOST@' }] })).toEqual({ x: [1, null, { a: 'x.test' }] })
  })

  it('hashes a password once per file, verifiably', () => {
    const { fill } = placeholdersFor('x', addresses)
    const hash = fill('@scrypt:till@')
    const [, , parameters, salt = '', digest] = hash.split('$')
    expect(parameters).toBe('ln=14,r=8,p=1')
    const again = scryptSync('till', Buffer.from(salt, 'base64'), 32, { N: 16384, r: 8, p: 1 })
    expect(again.toString('base64').replace(/=+$/, '')).toBe(digest)
    expect(fill('@scrypt:till@')).toBe(hash)
  })

  it('remembers what was saved', () => {
    const placeholders = placeholdersFor('x', addresses)
    placeholders.save('token', 'abc')
    expect(placeholders.fill('Bearer @$token@')).toBe('Bearer abc')
  })

  it.each(['@NOBODY@', '@$unsaved@'])('%s is an error of the case', (text) => {
    expect(() => placeholdersFor('x', addresses).fill(text)).toThrow(CaseError)
  })
})
