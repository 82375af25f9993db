import { describe, expect, it } from '@jest/globals'
import { isReadable, readMediaRange } from '../../../language/routes/media-range.ts'

describe('readMediaRange', () => {
  it.each<[string, string | undefined]>([
    ['application/json', 'application/json'],
    ['Application/JSON', 'application/json'],
    ['application/json;charset=UTF-8', 'application/json; charset=utf-8'],
    ['text/csv ; Header="present"', 'text/csv; header=present'],
    ['text/csv; b=2; a=1', 'text/csv; a=1; b=2'],
    ['image/*', 'image/*'],
    ['*/*', '*/*'],
    ['application/*+json', 'application/*+json'],
    ['image/svg+xml', 'image/svg+xml'],
    ['application/vnd.acme.v2+json', 'application/vnd.acme.v2+json'],
    ['*', undefined],
    ['image', undefined],
    ['image/', undefined],
    ['/png', undefined],
    ['*/png', undefined],
    ['text/*+xml', undefined],
    ['text/*+json', undefined],
    ['*/*+json', undefined],
    ['image/p*g', undefined],
    ['text/csv; q=0.5', undefined],
    ['text/csv;Q=1', undefined],
    ['text/csv;q=', undefined],
    ['text/csv;', undefined],
    ['text/csv; header', undefined],
    ['text/csv, text/plain', undefined],
    [' text/csv', undefined],
    ['text/csv\n', undefined],
    ['', undefined],
    [`text/${'a'.repeat(300)}`, undefined],
    [`text/csv${'; a=b'.repeat(60)}`, undefined],
  ])('%p: %p', (text, expected) => {
    expect(readMediaRange(text)).toBe(expected)
  })
})

describe('isReadable', () => {
  it.each([
    ['application/json', true],
    ['application/*+json', true],
    ['application/merge-patch+json', true],
    ['application/msgpack', true],
    ['application/vnd.msgpack', true],
    ['application/x-msgpack', true],
    ['application/x-www-form-urlencoded', true],
    ['text/*', true],
    ['text/xml; charset=utf-8', true],
    ['application/xml', false],
    ['application/*', false],
    ['image/svg+xml', false],
    ['multipart/form-data', false],
    ['*/*', false],
  ])('%p: %p', (range, expected) => {
    expect(isReadable(range)).toBe(expected)
  })
})
