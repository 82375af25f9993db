// Gives members of compiled forms the names that they have in documents.

import type { Value, ValueMap } from './expression/value.ts'

const OTHER_NAMES: ReadonlyMap<string, string> = new Map([['method', 'http_method']])

/** `queryString` → `query_string`. */
export const withDocumentNames = (members: Readonly<Record<string, unknown>>): ValueMap =>
  Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [
        OTHER_NAMES.get(name) ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
        value as Value,
      ]),
  )
