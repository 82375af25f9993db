// Lists what an API says of itself, in one table: which keys of the document each part is compiled from, how, and how it is
// described.

import type { ApiParts } from './compiled.ts'
import { parseHost } from '../routes/host-pattern.ts'
import { key, TEXT } from '../schema/document-notation.ts'
import type { Diagnostics } from './diagnostics.ts'
import type { LevelParts, Written } from './level-part.ts'

/** What the parts of an API are compiled with, beside the keys. */
export interface ApiPartDeps {
  readonly hasRealm: (uri: string) => boolean
  readonly diagnostics: Diagnostics
}

export const API_PARTS: LevelParts<ApiParts, ApiPartDeps> = {
  id: {
    keys: {
      id: key(
        'Globally unique identifier of the API, not beginning with _. Loading it again replaces the document.',
        { ...TEXT, minLength: 1, pattern: '^(?!_)' },
        { examples: ['com.example.orders'] },
      ),
    },
    compile: (written, { diagnostics }) => {
      const id = textOf(written, 'id')
      if (id.startsWith('_'))
        diagnostics.problem('invalid_value', '/id', 'an id does not begin with _')
      return id
    },
    describe: (id) => ({ id }),
  },
  realmUri: {
    keys: {
      realm_uri: key('The one realm that the API targets.', TEXT, { examples: ['com.example'] }),
    },
    compile: (written, { hasRealm, diagnostics }) => {
      const uri = textOf(written, 'realm_uri')
      if (uri !== '' && !hasRealm(uri))
        diagnostics.problem(
          'no_such_realm',
          '/realm_uri',
          `There is no realm named '${uri.slice(0, 255)}'`,
        )
      return uri
    },
    describe: (uri) => ({ realm_uri: uri }),
  },
  host: {
    keys: {
      host: key(
        'Host pattern that the Host header is matched with: a name, mydomain.:_ with one label of any name, [www.]acme.com with an optional label, [...].acme.com with any number of leading labels, or _ for every host.',
        TEXT,
        { examples: ['api.example.com', '[www.]example.com', '_'] },
      ),
    },
    compile: (written) => textOf(written, 'host'),
    describe: (host) => ({ host }),
  },
  hosts: {
    keys: {},
    compile: (written, { diagnostics }) => {
      const { value, pointer } = written('host')
      if (typeof value !== 'string') return []
      const parsed = parseHost(value)
      if (parsed.ok) return parsed.hosts
      diagnostics.problem('invalid_value', pointer, parsed.message)
      return []
    },
    describe: () => ({}),
  },
}

const textOf = (written: Written, name: string): string => {
  const { value } = written(name)
  return typeof value === 'string' ? value : ''
}
