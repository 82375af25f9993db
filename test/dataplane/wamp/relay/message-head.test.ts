import { describe, expect, it } from '@jest/globals'
import { readMessageHead } from '../../../../dataplane/wamp/relay/message-head.ts'
import { cbor } from '../../../../dataplane/wamp/transport/serializers/cbor.ts'
import { msgpack } from '../../../../dataplane/wamp/transport/serializers/msgpack.ts'
import type { SerializerName } from '../../../../dataplane/wamp/protocol/messages.ts'

const HELLO = { kind: 'hello', realmUri: 'com.acme' }
const CALL = { kind: 'message', type: 48 }
const PARTIAL = { kind: 'partial' }
const UNREADABLE = { kind: 'unreadable' }

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
/** `com.acme`. */
const NAME = '636f6d2e61636d65'

describe('JSON', () => {
  it.each([
    ['[1,"com.acme",{}]', HELLO],
    ['[1,"com.acme"]', HELLO],
    ['[1,"com.acme"', HELLO],
    [' \t\r\n[ 1 ,\n"com.acme" , {}]', HELLO],
    ['[1,"com\\u002eacme",{}]', HELLO],
    ['[1,"c\\u006fm.acme",{}]', HELLO],
    ['[1,"com.acme.a",{}]', { kind: 'hello', realmUri: 'com.acme.a' }],
    ['[1,"é",{}]', { kind: 'hello', realmUri: 'é' }],
    ['[1,"",{}]', { kind: 'hello', realmUri: '' }],
    ['[1,"a\\"b",{}]', { kind: 'hello', realmUri: 'a"b' }],
    ['[48,1,{},"com.proc"]', CALL],
    ['[48]', CALL],
    ['[0,"com.acme"]', { kind: 'message', type: 0 }],
    ['[10,"com.acme"]', { kind: 'message', type: 10 }],
    ['[100,"com.acme"]', { kind: 'message', type: 100 }],
    ['', PARTIAL],
    ['  ', PARTIAL],
    ['[', PARTIAL],
    ['[1', PARTIAL],
    ['[48', PARTIAL],
    ['[1 ', PARTIAL],
    ['[1,', PARTIAL],
    ['[1, ', PARTIAL],
    ['[1,"com.a', PARTIAL],
    ['[1,"com.acme\\', PARTIAL],
    ['[1,"com.acme\\"', PARTIAL],
    // What a reader that is less strict may take for HELLO.
    ['[1.0,"com.acme"]', UNREADABLE],
    ['[1e0,"com.acme"]', UNREADABLE],
    ['[10e-1,"com.acme"]', UNREADABLE],
    ['[01,"com.acme"]', UNREADABLE],
    ['[+1,"com.acme"]', UNREADABLE],
    ['[-1,"com.acme"]', UNREADABLE],
    ['[0x1,"com.acme"]', UNREADABLE],
    ['["1","com.acme"]', UNREADABLE],
    ['[true,"com.acme"]', UNREADABLE],
    ['[1000,"com.acme"]', UNREADABLE],
    ['[[1,"com.acme"]]', UNREADABLE],
    ['[,1,"com.acme"]', UNREADABLE],
    ['\ufeff[1,"com.acme"]', UNREADABLE],
    ['/**/[1,"com.acme"]', UNREADABLE],
    ['[/**/1,"com.acme"]', UNREADABLE],
    ['\v[1,"com.acme"]', UNREADABLE],
    ['\u00a0[1,"com.acme"]', UNREADABLE],
    ['{"0":1,"1":"com.acme"}', UNREADABLE],
    ['1', UNREADABLE],
    ['[]', UNREADABLE],
    ['[1]', UNREADABLE],
    ["[1,'com.acme']", UNREADABLE],
    ['[1,com.acme]', UNREADABLE],
    ['[1,null,{}]', UNREADABLE],
    ['[1,{},"com.acme"]', UNREADABLE],
    ['[1,/**/"com.acme"]', UNREADABLE],
    ['[1,"com\nacme"]', UNREADABLE],
    ['[1,"com\\xacme"]', UNREADABLE],
    // The separators of batched messages.
    ['\x18[1,"com.acme"]', UNREADABLE],
    ['\x1e[1,"com.acme"]', UNREADABLE],
  ])('%j', (text, expected) => {
    expect(readMessageHead('json', Buffer.from(text))).toEqual(expected)
  })

  it.each([
    ['UTF-16, little endian', Buffer.from('[1,"com.acme"]', 'utf16le')],
    ['UTF-16, big endian', Buffer.from('[1,"com.acme"]', 'utf16le').swap16()],
    ['a realm that is no UTF-8', Buffer.from('[1,"com.acme\xff"]', 'latin1')],
    ['a realm with an overlong dot', Buffer.from('[1,"com\xc0\xaeacme"]', 'latin1')],
  ])('%s is unreadable', (_title, bytes) => {
    expect(readMessageHead('json', bytes)).toEqual(UNREADABLE)
  })
})

describe('MessagePack', () => {
  it.each([
    ['as we write it', msgpack.encode([1, 'com.acme', { a: 1 }]), HELLO],
    ['a CALL as we write it', msgpack.encode([48, 1, {}, 'com.proc']), CALL],
    ['a long list', hex(`dc 0003 01 a8 ${NAME}`), HELLO],
    ['a longer list', hex(`dd 00000003 01 a8 ${NAME}`), HELLO],
    ['a type of one byte', hex(`93 cc01 a8 ${NAME}`), HELLO],
    ['a type of two bytes', hex(`93 cd0001 a8 ${NAME}`), HELLO],
    ['a type of four bytes', hex(`93 ce00000001 a8 ${NAME}`), HELLO],
    ['a type of eight bytes', hex(`93 cf0000000000000001 a8 ${NAME}`), HELLO],
    ['a signed type', hex(`93 d001 a8 ${NAME}`), HELLO],
    ['a signed type of two bytes', hex(`93 d10001 a8 ${NAME}`), HELLO],
    ['a signed type of eight bytes', hex(`93 d30000000000000001 a8 ${NAME}`), HELLO],
    ['a realm with a length of one byte', hex(`93 01 d908 ${NAME}`), HELLO],
    ['of two', hex(`93 01 da0008 ${NAME}`), HELLO],
    ['of four', hex(`93 01 db00000008 ${NAME}`), HELLO],
    ['nothing', hex(''), PARTIAL],
    ['a list', hex('93'), PARTIAL],
    ['half of a long list', hex('dc00'), PARTIAL],
    ['half of a type', hex('93 cf00000000'), PARTIAL],
    ['a list and a type', hex('93 01'), PARTIAL],
    ['half of a realm', hex('93 01 a8 636f6d'), PARTIAL],
    ['an empty list', hex(`90 01 a8 ${NAME}`), UNREADABLE],
    ['a list of the type alone', hex(`91 01 a8 ${NAME}`), UNREADABLE],
    ['a map', hex(`82 01 a8 ${NAME}`), UNREADABLE],
    ['a float as type', hex(`93 cb3ff0000000000000 a8 ${NAME}`), UNREADABLE],
    ['a short float as type', hex(`93 ca3f800000 a8 ${NAME}`), UNREADABLE],
    ['text as type', hex(`93 a131 a8 ${NAME}`), UNREADABLE],
    ['true as type', hex(`93 c3 a8 ${NAME}`), UNREADABLE],
    ['a negative type', hex(`93 ff a8 ${NAME}`), UNREADABLE],
    ['a negative type of two bytes', hex(`93 d1ffff a8 ${NAME}`), UNREADABLE],
    ['an extension as type', hex(`93 d40101 a8 ${NAME}`), UNREADABLE],
    ['bytes as realm', hex(`93 01 c408 ${NAME}`), UNREADABLE],
    ['nil as realm', hex('93 01 c0'), UNREADABLE],
    ['a list as realm', hex(`93 01 91 a8 ${NAME}`), UNREADABLE],
    ['a realm that is no UTF-8', hex('93 01 a2 c0ae'), UNREADABLE],
    ['a code that is none', hex('c1'), UNREADABLE],
    ['the length of a batched message', hex(`0000000c 93 01 a8 ${NAME}`), UNREADABLE],
  ])('%s', (_title, bytes, expected) => {
    expect(readMessageHead('msgpack', Buffer.from(bytes as Uint8Array))).toEqual(expected)
  })
})

describe('CBOR', () => {
  it.each([
    ['as we write it', cbor.encode([1, 'com.acme', { a: 1 }]), HELLO],
    ['a CALL as we write it', cbor.encode([48, 1, {}, 'com.proc']), CALL],
    ['a list of eight bytes', hex(`9b 0000000000000003 01 68 ${NAME}`), HELLO],
    ['a list without length', hex(`9f 01 68 ${NAME} ff`), HELLO],
    ['a type of one byte', hex(`83 1801 68 ${NAME}`), HELLO],
    ['a type of two bytes', hex(`83 190001 68 ${NAME}`), HELLO],
    ['a type of eight bytes', hex(`83 1b0000000000000001 68 ${NAME}`), HELLO],
    ['a realm with a length of eight bytes', hex(`83 01 7b0000000000000008 ${NAME}`), HELLO],
    ['nothing', hex(''), PARTIAL],
    ['half of a type', hex('83 1b00'), PARTIAL],
    ['a realm longer than all', hex(`83 01 7bffffffffffffffff ${NAME}`), PARTIAL],
    ['an empty list', hex('80'), UNREADABLE],
    ['a list without length that is empty', hex('9f ff'), UNREADABLE],
    ['a list of the type alone', hex('81 01'), UNREADABLE],
    ['a tag before the list', hex(`d9d9f7 83 01 68 ${NAME}`), UNREADABLE],
    ['a tag before the type', hex(`83 c1 01 68 ${NAME}`), UNREADABLE],
    ['a tag before the realm', hex(`83 01 d820 68 ${NAME}`), UNREADABLE],
    ['a big number as type', hex(`83 c24101 68 ${NAME}`), UNREADABLE],
    ['a float as type', hex(`83 f93c00 68 ${NAME}`), UNREADABLE],
    ['a negative type', hex(`83 20 68 ${NAME}`), UNREADABLE],
    ['a realm in chunks', hex(`83 01 7f 64 636f6d2e 64 61636d65 ff`), UNREADABLE],
    ['bytes as realm', hex(`83 01 48 ${NAME}`), UNREADABLE],
    ['null as realm', hex('83 01 f6'), UNREADABLE],
    ['a map', hex(`a1 01 68 ${NAME}`), UNREADABLE],
    ['a reserved length', hex(`83 1c 68 ${NAME}`), UNREADABLE],
    ['the length of a batched message', hex(`0000000c 83 01 68 ${NAME}`), UNREADABLE],
  ])('%s', (_title, bytes, expected) => {
    expect(readMessageHead('cbor', Buffer.from(bytes as Uint8Array))).toEqual(expected)
  })
})

it.each<[SerializerName, Buffer]>([
  ['json', Buffer.from(' [1 , "com\\u002eacme",{}]')],
  ['msgpack', hex(`dd 00000003 cf0000000000000001 da0008 ${NAME} 80`)],
  ['cbor', hex(`9b 0000000000000003 1b0000000000000001 7a00000008 ${NAME} a0`)],
])('%s in pieces is partial until it is decided, and decided once', (format, bytes) => {
  const kinds = Array.from(bytes, (_, at) => readMessageHead(format, bytes.subarray(0, at)).kind)
  const decided = kinds.findIndex((kind) => kind !== 'partial')
  expect(decided).toBeGreaterThan(8)
  expect(new Set(kinds.slice(decided))).toEqual(new Set(['hello']))
})
