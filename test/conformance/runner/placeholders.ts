// Fills in `@ID@`, `@UPSTREAM@`, `@scrypt:password@` … in a value of a case file, keys included. An unknown placeholder
// is an error of the case, never an empty text.

import { createHash, randomBytes, scryptSync } from 'node:crypto'
import { isList, isMap, type Json } from './json.ts'

/** The case itself is wrong; the gateway is not to blame. */
export class CaseError extends Error {
  override readonly name = 'CaseError'
}

export interface GatewayAddresses {
  /** `127.0.0.1:PORT` of the first and the second echo upstream. */
  readonly upstreams: readonly [first: string, second: string]
  /** `127.0.0.1:PORT` where nothing listens. */
  readonly refused: string
  readonly publicPort: number
}

export interface Placeholders {
  readonly id: string
  readonly host: string
  /** Fills every text in a value. */
  readonly fill: <T>(value: T) => T
  /** Makes `@$name@` stand for a value that a response gave. */
  readonly save: (name: string, value: string) => void
}

const PLACEHOLDER = /@([A-Z][A-Z0-9_]*|scrypt:[^@]+|sha256:[^@]+|\$[a-z_0-9]+)@/g

/** The placeholders of one file: its own id, host and realm, so that files can run side by side. */
export const placeholdersFor = (stem: string, addresses: GatewayAddresses): Placeholders => {
  const slug = stem
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  const [first, second] = addresses.upstreams
  const known = new Map([
    ['ID', slug],
    ['HOST', `${slug}.test`],
    ['REALM', `com.conformance.${slug.replaceAll('-', '_')}`],
    ['UPSTREAM', `http://${first}`],
    ['UPSTREAM_AUTHORITY', first],
    ['UPSTREAM2', `http://${second}`],
    ['UPSTREAM2_AUTHORITY', second],
    ['REFUSED', `http://${addresses.refused}`],
    ['REFUSED_AUTHORITY', addresses.refused],
    ['PUBLIC_PORT', String(addresses.publicPort)],
  ])
  const lookUp = (name: string): string => {
    const value = known.get(name) ?? compute(name)
    if (value === undefined) {
      throw new CaseError(
        name.startsWith('$')
          ? `@${name}@ was not saved by an earlier step`
          : `unknown placeholder @${name}@`,
      )
    }
    known.set(name, value)
    return value
  }
  const fillText = (text: string): string =>
    text.replace(PLACEHOLDER, (_, name: string) => lookUp(name))
  return {
    id: slug,
    host: `${slug}.test`,
    fill: <T>(value: T): T => fillValue(value as Json, fillText) as T,
    save: (name, value) => known.set(`$${name}`, value),
  }
}

const fillValue = (value: Json, fillText: (text: string) => string): Json => {
  if (typeof value === 'string') return fillText(value)
  if (isList(value)) return value.map((item) => fillValue(item, fillText))
  if (!isMap(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [fillText(key), fillValue(item, fillText)]),
  )
}

const compute = (name: string): string | undefined => {
  const [kind, text = ''] = splitOnce(name, ':')
  if (kind === 'scrypt') return passwordHash(text)
  return kind === 'sha256' ? createHash('sha256').update(text).digest('hex') : undefined
}

const splitOnce = (text: string, at: string): [string, string?] => {
  const index = text.indexOf(at)
  return index < 0 ? [text] : [text.slice(0, index), text.slice(index + at.length)]
}

/** The PHC string of behaviour §7, with a salt of its own. */
const passwordHash = (password: string): string => {
  const salt = randomBytes(16)
  const hash = scryptSync(password, salt, 32, { N: 1 << 14, r: 8, p: 1, maxmem: 1 << 26 })
  const [plainSalt, plainHash] = [salt, hash].map((bytes) =>
    bytes.toString('base64').replace(/=+$/, ''),
  )
  return `$scrypt$ln=14,r=8,p=1$${plainSalt ?? ''}$${plainHash ?? ''}`
}
