// Suggests the number that the author means who writes a time or a size with its unit, such as 5s or 10MB.

const MILLISECONDS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  sec: 1000,
  second: 1000,
  seconds: 1000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  minutes: 60_000,
  h: 3_600_000,
}

const BYTES: Readonly<Record<string, number>> = {
  b: 1,
  k: 1000,
  kb: 1000,
  ki: 1024,
  kib: 1024,
  m: 1_000_000,
  mb: 1_000_000,
  mi: 1_048_576,
  mib: 1_048_576,
  g: 1_000_000_000,
  gb: 1_000_000_000,
  gi: 1_073_741_824,
  gib: 1_073_741_824,
}

/**
 * A sentence to go behind another one; empty where the text is no number with a unit.
 * @example unitHint('timeout', '5s') // ' It is in milliseconds: write 5000.'
 */
export const unitHint = (property: string, text: string): string => {
  const match = /^(\d{1,9}(?:\.\d{1,3})?) ?([A-Za-z]{1,7})$/.exec(text)
  const [, digits = '', unit = ''] = match ?? []
  const value = Number(digits)
  if (match === null) return ''
  const size = (units: Readonly<Record<string, number>>): number | undefined => {
    const factor = Object.hasOwn(units, unit.toLowerCase()) ? units[unit.toLowerCase()] : undefined
    return factor === undefined ? undefined : Math.round(value * factor)
  }
  if (property.startsWith('body_') && property.endsWith('seconds'))
    return sentence('seconds', size(MILLISECONDS), 1000)
  if (property.includes('byte')) return sentence('bytes', size(BYTES), 1)
  return property.includes('timeout') ? sentence('milliseconds', size(MILLISECONDS), 1) : ''
}

const sentence = (unit: string, size: number | undefined, of: number): string =>
  size === undefined ? '' : ` It is in ${unit}: write ${Math.ceil(size / of)}.`
