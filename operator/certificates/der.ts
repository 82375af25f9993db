// Encodes values in DER (X.690): as much of ASN.1 as a certificate needs. Reads nothing.

/** @example sequence(integer(Buffer.of(2))).toString('hex') // '3003020102' */
export const sequence = (...contents: readonly Buffer[]): Buffer => encode(0x30, contents)

export const setOf = (content: Buffer): Buffer => encode(0x31, [content])

/** A natural number, big-endian. */
export const integer = (bytes: Buffer): Buffer => {
  const first = bytes.findIndex((byte) => byte !== 0)
  const digits = first < 0 ? Buffer.of(0) : bytes.subarray(first)
  const isNegative = ((digits[0] ?? 0) & 0x80) !== 0
  return encode(0x02, isNegative ? [Buffer.of(0), digits] : [digits])
}

export const isTrue = (): Buffer => encode(0x01, [Buffer.of(0xff)])

export const octetString = (content: Buffer): Buffer => encode(0x04, [content])

/** Bits that fill whole bytes, or whose last `unused` ones do not count. */
export const bitString = (content: Buffer, unused = 0): Buffer =>
  encode(0x03, [Buffer.of(unused), content])

export const utf8String = (text: string): Buffer => encode(0x0c, [Buffer.from(text)])

/** `[number]` around whole values, or, with a primitive one, in place of its own tag. */
export const context = (
  number: number,
  content: Buffer,
  form: 'constructed' | 'primitive' = 'constructed',
): Buffer => encode((form === 'constructed' ? 0xa0 : 0x80) | number, [content])

/** @example objectId('2.5.4.3').toString('hex') // '0603550403' */
export const objectId = (dotted: string): Buffer => {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return encode(0x06, [Buffer.from([first * 40 + second, ...rest.flatMap(base128)])])
}

/** UTCTime until 2049, GeneralizedTime from 2050 (RFC 5280 §4.1.2.5); whole seconds. */
export const time = (ms: number): Buffer => {
  const text = `${new Date(ms).toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  return text < '2050'
    ? encode(0x17, [Buffer.from(text.slice(2))])
    : encode(0x18, [Buffer.from(text)])
}

const encode = (tag: number, contents: readonly Buffer[]): Buffer => {
  const content = Buffer.concat(contents)
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content])
}

const lengthOf = (length: number): Buffer => {
  if (length < 0x80) return Buffer.of(length)
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(length)
  const digits = bytes.subarray(bytes.findIndex((byte) => byte !== 0))
  return Buffer.concat([Buffer.of(0x80 | digits.length), digits])
}

const base128 = (number: number): readonly number[] => {
  const digits = [number & 0x7f]
  for (let rest = number >> 7; rest > 0; rest >>= 7) digits.unshift((rest & 0x7f) | 0x80)
  return digits
}
