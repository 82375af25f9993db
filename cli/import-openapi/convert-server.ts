// Finds out where requests go: the server that an OpenAPI description names first.

import { childPointer } from '../../base/json-pointer.ts'
import { listAt, mapAt, mapsAt, memberAt, textAt } from '../../language/expression/members.ts'
import type { ValueMap } from '../../language/expression/value.ts'
import { parseBasePath } from '../../language/routes/path-pattern.ts'
import type { Description, Drop } from './description.ts'

export interface Server {
  /** Scheme, host and port. */
  readonly origin: string
  /** Begins with a slash. */
  readonly basePath: string
}

const UNKNOWN_ORIGIN = 'http://upstream.example'

/** A text: it cannot be used. @param wanted in place of those of the description */
export const convertServer = (
  description: Description,
  wanted: string | null,
  drop: Drop,
): Server | string => {
  if (wanted !== null) {
    const server = readServer(wanted)
    return server === undefined || server.origin === ''
      ? `'${wanted.slice(0, 200)}' is no address like https://orders.example.com/v1`
      : server
  }
  const { root, dialect } = description
  const place = dialect === '2.0' ? '/host' : '/servers'
  const [url = '', another] = dialect === '2.0' ? [urlOf2(root)] : urlsOf3(root)
  if (another !== undefined) drop(childPointer(place, 1), 'requests go to the first server')
  const server = readServer(url) ?? { origin: '', basePath: '/' }
  if (server.origin !== '') return server
  drop(place, `fill in the upstream in place of ${UNKNOWN_ORIGIN}, or name it by --server`)
  return { ...server, origin: UNKNOWN_ORIGIN }
}

const urlOf2 = (root: ValueMap): string => {
  const schemes = listAt(root, 'schemes')
  const scheme = schemes.includes('https') || !schemes.includes('http') ? 'https' : 'http'
  const host = textAt(root, 'host')
  return `${host === '' ? '' : `${scheme}://${host}`}${textAt(root, 'basePath') || '/'}`
}

const urlsOf3 = (root: ValueMap): readonly string[] =>
  mapsAt(root, 'servers').map((server) =>
    textAt(server, 'url').replaceAll(/\{([^{}]*)\}/g, (tag, name: string) => {
      const value = memberAt(mapAt(mapAt(server, 'variables'), name), 'default')
      return typeof value === 'string' || typeof value === 'number' ? String(value) : tag
    }),
  )

const readServer = (url: string): Server | undefined => {
  const [, origin = '', path = ''] = /^(https?:\/\/[^/?#{}@\s]+)?(\/[^?#{}]*)?$/i.exec(url) ?? []
  const basePath = path.replace(/\/+$/, '') || '/'
  if (origin + path === '' || !parseBasePath(basePath).ok || /[:[\]]/.test(basePath))
    return undefined
  return origin === '' || URL.canParse(origin) ? { origin, basePath } : undefined
}
