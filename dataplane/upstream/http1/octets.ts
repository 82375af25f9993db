// Names the octets of HTTP/1.1 messages and classifies them as RFC 9110 does.

export const TAB = 0x09
export const LF = 0x0a
export const CR = 0x0d
export const SP = 0x20
export const COLON = 0x3a

const tableOf = (isMember: (octet: number) => boolean): Uint8Array =>
  Uint8Array.from({ length: 256 }, (_, octet) => (isMember(octet) ? 1 : 0))

const TOKEN_SIGNS: ReadonlySet<number> = new Set(Buffer.from("!#$%&'*+-.^_`|~"))

/** 1: may stand in a token (RFC 9110 §5.6.2). */
export const TOKEN = tableOf(
  (octet) =>
    TOKEN_SIGNS.has(octet) ||
    (octet >= 0x30 && octet <= 0x39) ||
    (octet >= 0x41 && octet <= 0x5a) ||
    (octet >= 0x61 && octet <= 0x7a),
)

/** 1: may stand in a field value or a reason phrase: HTAB, SP, VCHAR and obs-text (RFC 9110 §5.5, RFC 9112 §4). */
export const TEXT = tableOf((octet) => octet === TAB || (octet >= SP && octet !== 0x7f))

export const NO_DIGIT = 255

/** The value of a hexadecimal digit. */
export const HEX = Uint8Array.from({ length: 256 }, (_, octet) => {
  const value = parseInt(String.fromCharCode(octet), 16)
  return Number.isNaN(value) ? NO_DIGIT : value
})
