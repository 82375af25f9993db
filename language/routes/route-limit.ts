// Bounds how many routes a document stands for, before any of them is built. Pure, never throws.

import { childPointer } from '../../base/json-pointer.ts'
import { ownValue } from '../expression/lookup.ts'
import { isMap, type ValueMap } from '../expression/value.ts'
import { parseHost } from './host-pattern.ts'
import { countForms } from './path-pattern.ts'
import type { Problem } from '../problem.ts'
import { namedVersions } from '../versions.ts'

/** The default of behaviour §2. A document of 20,000 routes takes a third of a second to compile. */
export const MAX_ROUTES = 20_000

/**
 * Brackets multiply: 0.6 MB of JSON could otherwise stand for half a million routes, each of which takes memory and
 * time. Methods do not count. The problem is reported at the version that passes the limit.
 * @example findTooManyRoutes({host: 'a.test', versions: {}}) // undefined
 */
export const findTooManyRoutes = (
  document: ValueMap,
  maxRoutes = MAX_ROUTES,
): Problem | undefined => {
  const { routes, passedAt } = count(document, maxRoutes)
  if (passedAt === undefined) return undefined
  return {
    code: 'invalid_value',
    path: passedAt,
    message:
      `The document stands for ${routes} routes, more than ${maxRoutes}: each path counts once for every form of ` +
      'its optional segments, of the base_path and of the host. Use fewer brackets, or several documents ' +
      '(the limit is the setting max-routes of gateway and operator)',
  }
}

/** Never less than what is compiled of it. @example countRoutes({host: 'a.test', versions: {}}) // 0 */
export const countRoutes = (document: ValueMap): number => count(document, Infinity).routes

const count = (
  document: ValueMap,
  maxRoutes: number,
): { readonly routes: number; readonly passedAt: string | undefined } => {
  const hosts = hostForms(ownValue(document, 'host'))
  let routes = 0
  let passedAt: string | undefined
  for (const { pointer, value } of namedVersions(ownValue(document, 'versions'))) {
    if (isMap(value)) routes += hosts * routesOf(value)
    if (routes > maxRoutes) passedAt ??= childPointer(pointer, 'paths')
  }
  return { routes, passedAt }
}

const hostForms = (host: unknown): number => {
  const parsed = typeof host === 'string' ? parseHost(host) : undefined
  return parsed?.ok === true ? parsed.hosts.length : 1
}

const routesOf = (version: ValueMap): number => {
  const basePath = ownValue(version, 'base_path')
  const paths = ownValue(version, 'paths')
  if (!isMap(paths)) return 0
  const baseForms = typeof basePath === 'string' ? countForms(basePath) : 1
  let routes = 0
  for (const path of Object.keys(paths)) routes += baseForms * countForms(path)
  if (ownValue(version, 'openapi') !== undefined) routes += baseForms
  // The page and its two files.
  if (ownValue(version, 'docs_page') !== undefined) routes += 3 * baseForms
  return routes
}
