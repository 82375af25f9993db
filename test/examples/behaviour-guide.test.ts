// What the pages of behaviour list by hand: no field of a realm is left out.

import { expect, it } from '@jest/globals'
import { OIDC_PROVIDER_SCHEMA } from '../../language/schema/oidc-provider-schema.ts'
import { mapValues, type ValueSchema } from '../../language/schema/realm-notation.ts'
import { REALM_SCHEMA } from '../../language/schema/realm-schema.ts'
import { guideOf } from '../support/pages.ts'

const PAGE = guideOf('behaviour')

/** Words within backticks of a section. */
const codeOf = (section: number): ReadonlySet<string> => {
  const [, text = ''] =
    new RegExp(`^# ${section}\\. .*?\n(.*?)(?=^# )`, 'ms').exec(`${PAGE}\n# `) ?? []
  const code = [...text.matchAll(/`([^`]+)`/g)].map(([, inner = '']) => inner)
  return new Set(code.flatMap((inner) => inner.split(/\W+/)))
}

/** Names of all members, but for those of providers, which have a section of their own. */
const namesIn = (schema: ValueSchema): readonly string[] => {
  if ('x-sensitivity' in schema || schema === OIDC_PROVIDER_SCHEMA) return []
  if ('items' in schema) return namesIn(schema.items)
  if (!('properties' in schema)) return namesIn(mapValues(schema))
  return Object.entries(schema.properties).flatMap(([name, property]) => [
    name,
    ...namesIn(property),
  ])
}

it.each([
  [6, 'a provider of OpenID Connect', Object.keys(OIDC_PROVIDER_SCHEMA.properties)],
  [7, 'a realm', namesIn(REALM_SCHEMA)],
])('section %i has every field of %s', (section, _of, names) => {
  expect(names.length).toBeGreaterThan(15)
  const told = codeOf(section)
  expect(names.filter((name) => !told.has(name))).toEqual([])
})
