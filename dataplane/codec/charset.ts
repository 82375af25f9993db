// Converts text in another charset to UTF-8, by the labels and decoders of the WHATWG Encoding Standard.

/**
 * The text as UTF-8, without a byte order mark; undefined: no charset has such a label, or the bytes are not of it.
 * @example toUtf8(Buffer.from([0x5a, 0x6f, 0xeb]), 'iso-8859-1')?.toString() // 'Zoë'
 */
export const toUtf8 = (bytes: Buffer, charset: string): Buffer | undefined => {
  try {
    return Buffer.from(new TextDecoder(charset, { fatal: true }).decode(bytes))
  } catch (error) {
    // RangeError: a label that is none. TypeError: bytes that are not of the charset.
    if (error instanceof RangeError || error instanceof TypeError) return undefined
    throw error
  }
}
