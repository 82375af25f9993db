// Lists what a version says for all its paths, in one table: which keys each part is compiled from, how, and how it is
// described. All of it reaches the gateway's requests (`ServedVersion`).

import type { StatusCodes, VersionParts } from './compiled.ts'
import { ownValue } from '../expression/lookup.ts'
import { constant } from '../expression/template.ts'
import { isMap } from '../expression/value.ts'
import { FREE_MAP, key, listOf, ref, restrictingKey, TEXT } from '../schema/document-notation.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type IntegerRange, readInteger, readTexts } from './folded.ts'
import type { LevelParts } from './level-part.ts'
import { STATUS_CODES } from './status-codes.ts'
import { type CompiledSecurity, describeSecurity } from './security.ts'

const DEFAULT_POOL_SIZE = 200
const POOL_SIZE: IntegerRange = { minimum: 1, maximum: 65_536 }
const DEFAULT_LANGUAGES: readonly string[] = ['en']

/** What the parts of a version are compiled with, beside the keys. */
export interface VersionPartDeps {
  /** What the version and the API say together. */
  readonly statusCodes: StatusCodes
  /** In front of `/ws`; undefined: it is not served. */
  readonly security: CompiledSecurity | undefined
  /** The `meta` of the API. */
  readonly meta: unknown
  readonly diagnostics: Diagnostics
}

export const VERSION_PARTS: LevelParts<VersionParts, VersionPartDeps> = {
  isActive: {
    keys: {
      is_active: restrictingKey('Whether the version is served.', {
        type: 'boolean',
        default: true,
      }),
    },
    compile: (written) => written('is_active').value !== false,
    describe: (isActive) => ({ is_active: isActive }),
  },
  deprecation: {
    keys: {
      is_deprecated: key('Whether responses carry the Deprecation header.', {
        type: 'boolean',
        default: false,
      }),
      meta: key('Free-form map for people and tools.', FREE_MAP),
    },
    compile: (written, { meta }) =>
      written('is_deprecated').value === true
        ? deprecationHeaders(written('meta').value ?? meta)
        : undefined,
    describe: (headers) => ({ is_deprecated: true, deprecation_headers: headers }),
  },
  poolSize: {
    keys: {
      pool_size: restrictingKey(
        'Connections per upstream origin, and calls in flight per realm, that the version uses at once.',
        { type: 'integer', ...POOL_SIZE, default: DEFAULT_POOL_SIZE },
      ),
    },
    compile: (written, { diagnostics }) => {
      const { value, pointer } = written('pool_size')
      if (typeof value !== 'number') return DEFAULT_POOL_SIZE
      return readInteger(constant(value), pointer, POOL_SIZE, diagnostics) ?? DEFAULT_POOL_SIZE
    },
    describe: (poolSize) => ({ pool_size: poolSize }),
  },
  languages: {
    keys: {
      languages: key(
        'Language codes that Accept-Language picks from; the first one is the default.',
        {
          type: 'array',
          ...listOf(
            {
              ...TEXT,
              description: 'A language tag such as en or de-AT.',
              pattern: '^[A-Za-z0-9]{1,8}(-[A-Za-z0-9]{1,8})*$',
            },
            { maxItems: 256 },
          ),
          default: DEFAULT_LANGUAGES,
        },
      ),
    },
    compile: (written, { diagnostics }) => {
      const { value, pointer } = written('languages')
      if (!Array.isArray(value)) return DEFAULT_LANGUAGES
      const texts = readTexts<string>(constant(value), pointer, undefined, diagnostics)
      return texts === undefined || texts.length === 0 ? DEFAULT_LANGUAGES : texts
    },
    describe: (languages) => ({ languages }),
  },
  statusCodes: {
    keys: {
      status_codes: key("WAMP error URI to HTTP status, over the API's.", ref('statusCodes')),
    },
    compile: (_written, { statusCodes }) => statusCodes,
    // The built-in table has hundreds.
    describe: (statusCodes) => {
      const own = Object.entries(statusCodes).filter(([uri, code]) => STATUS_CODES[uri] !== code)
      return own.length === 0 ? {} : { status_codes: Object.fromEntries(own) }
    },
  },
  security: {
    keys: {
      security: restrictingKey(
        'Who may call, where no path says otherwise: nearer than defaults.security. {} is anonymous; anything else must be satisfied.',
        ref('security'),
      ),
      wamp_websocket: restrictingKey(
        'The WebSocket to the WAMP router at /ws: false closes it, and a map has a security of its own in place of that of the version.',
        { type: ['boolean', 'object'], if: { type: 'object' }, then: ref('wampWebSocket') },
      ),
    },
    compile: (_written, { security }) => security,
    describe: (security) => ({ security: describeSecurity(security) }),
  },
}

/** RFC 9745 (`@unix`), RFC 8594 (HTTP date); a date that can't be read says just that it is so. */
const deprecationHeaders = (meta: unknown): Readonly<Record<string, string>> => {
  const text = (name: string): string | undefined => {
    const value = isMap(meta) ? ownValue(meta, name) : undefined
    return typeof value === 'string' ? value : undefined
  }
  const at = Date.parse(text('deprecated_at') ?? '')
  const sunset = Date.parse(text('sunset_at') ?? '')
  const link = text('deprecation_link')
  return {
    deprecation: Number.isNaN(at) ? 'true' : `@${Math.floor(at / 1000)}`,
    ...(Number.isNaN(sunset) ? {} : { sunset: new Date(sunset).toUTCString() }),
    ...(link === undefined || !URL.canParse(link)
      ? {}
      : { link: `<${new URL(link).href}>; rel="deprecation"` }),
  }
}
