import { describe, expect, it } from '@jest/globals'
import { formatComment, formatEvent } from '../../../../dataplane/http/sse/format.ts'

describe('formatEvent', () => {
  it.each([
    [{ data: 'a' }, 'data: a\n\n'],
    [{ data: ' a ' }, 'data:  a \n\n'],
    [{ data: '' }, 'data:\n\n'],
    [{ data: '\n' }, 'data: \ndata: \n\n'],
    [{ data: 'a\nb' }, 'data: a\ndata: b\n\n'],
    [{ data: 'a\r\nb\rc\n\nd' }, 'data: a\ndata: b\ndata: c\ndata: \ndata: d\n\n'],
    [{ data: '{"a":"\\n"}' }, 'data: {"a":"\\n"}\n\n'],
    [{ data: 'ä\u2028b' }, 'data: ä\u2028b\n\n'],
    [{ data: ':a', name: 'tick', id: '7' }, 'event: tick\nid: 7\ndata: :a\n\n'],
    [{ data: 'a', name: '', id: '' }, 'data: a\n\n'],
    [
      { data: 'a', name: '__proto__', id: 'constructor' },
      'event: __proto__\nid: constructor\ndata: a\n\n',
    ],
    [
      { data: 'a', name: 'x\ndata: forged\n\n', id: '1\r\n2\0\u0085' },
      'event: xdata: forged\nid: 12\ndata: a\n\n',
    ],
    [{ data: 'a', name: '\r\n', id: '\0' }, 'data: a\n\n'],
  ])('%j', (event, text) => {
    expect(formatEvent(event)).toBe(text)
  })
})

describe('formatComment', () => {
  it.each([
    ['', ':\n\n'],
    ['\n\n', ':\n\n'],
    ['hello', ': hello\n\n'],
    ['a\ndata: forged\r\n\r\nb', ': adata: forgedb\n\n'],
  ])('%j', (text, comment) => {
    expect(formatComment(text)).toBe(comment)
  })
})
