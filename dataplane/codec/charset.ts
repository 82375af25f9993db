// Reads text in the charset that it names, by the labels and decoders of the WHATWG Encoding Standard.

/** The text; undefined: no charset has such a label, or the bytes are not of it. */
export const decodeText = (bytes: Buffer, charset: string): string | undefined => {
  try {
    return new TextDecoder(charset, { fatal: true }).decode(bytes)
  } catch {
    // Nothing else can be wrong: a RangeError is for a label that is none, a TypeError for bytes that are not of the charset.
    return undefined
  }
}

/**
 * The text as UTF-8, without a byte order mark; undefined: no charset has such a label, or the bytes are not of it.
 * @example toUtf8(Buffer.from([0x5a, 0x6f, 0xeb]), 'iso-8859-1')?.toString() // 'Zoë'
 */
export const toUtf8 = (bytes: Buffer, charset: string): Buffer | undefined => {
  const text = decodeText(bytes, charset)
  return text === undefined ? undefined : Buffer.from(text)
}
