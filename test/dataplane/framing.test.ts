import { describe, expect, it } from '@jest/globals'
import {
  comesWithoutBody,
  type Content,
  type Framing,
  frameResponse,
  toLength,
} from '../../dataplane/framing.ts'

const WHOLE: Content = { kind: 'whole', bytes: 7 }
const EMPTY: Content = { kind: 'whole', bytes: 0 }
const DECLARED: Content = { kind: 'stream', bytes: 7 }
const UNKNOWN: Content = { kind: 'stream', bytes: undefined }
const DESCRIBED: Content = { kind: 'described', bytes: 7 }
const MISSING: Content = { kind: 'missing' }

const framing = (length: number | undefined, hasBody: boolean, isEmptied = false): Framing => ({
  length,
  hasBody,
  isEmptied,
})

describe('frameResponse', () => {
  it.each<[number, boolean, Content, Framing]>([
    [200, false, WHOLE, framing(7, true)],
    [200, false, EMPTY, framing(0, false)],
    [200, false, DECLARED, framing(7, true)],
    [200, false, UNKNOWN, framing(undefined, true)],
    [200, false, DESCRIBED, framing(0, false, true)],
    [200, false, MISSING, framing(0, false, true)],
    [200, true, WHOLE, framing(7, false)],
    [200, true, EMPTY, framing(0, false)],
    [200, true, DECLARED, framing(7, false)],
    [200, true, UNKNOWN, framing(undefined, false)],
    [200, true, DESCRIBED, framing(7, false)],
    [200, true, MISSING, framing(0, false, true)],
    [304, false, WHOLE, framing(undefined, false)],
    [304, false, DECLARED, framing(7, false)],
    [304, false, UNKNOWN, framing(undefined, false)],
    [304, false, DESCRIBED, framing(7, false)],
    [304, false, MISSING, framing(undefined, false)],
    [404, false, DECLARED, framing(7, true)],
    [500, true, WHOLE, framing(7, false)],
  ])('%i, HEAD %p, %j', (status, isHead, content, expected) => {
    expect(frameResponse(status, isHead, content)).toEqual(expected)
  })

  it.each([WHOLE, EMPTY, DECLARED, UNKNOWN, DESCRIBED, MISSING])(
    '204 has no length and 205 that of nothing, whatever there is: %j',
    (content) => {
      for (const isHead of [false, true]) {
        expect(frameResponse(204, isHead, content)).toMatchObject({
          length: undefined,
          hasBody: false,
        })
        expect(frameResponse(205, isHead, content)).toMatchObject({ length: 0, hasBody: false })
      }
    },
  )
})

it.each([
  [200, 'GET', false],
  [205, 'GET', false],
  [204, 'GET', true],
  [304, 'POST', true],
  [200, 'HEAD', true],
])('%i to %s comes without a body: %p', (status, method, expected) => {
  expect(comesWithoutBody(status, method)).toBe(expected)
})

it.each([
  ['0', 0],
  ['700', 700],
  ['007', 7],
  ['', undefined],
  ['+7', undefined],
  ['7, 7', undefined],
  ['0x7', undefined],
  ['9'.repeat(16), undefined],
  [undefined, undefined],
])('the length %j', (text, bytes) => {
  expect(toLength(text)).toBe(bytes)
})
